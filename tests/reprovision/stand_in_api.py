"""Stands in for the bootstrap API, for the ignition server and for the progress API: TLS, a token, a payload, a log of every call.

/payload        200 with the file `payload`; 401 without the token; 511 while the file is not there
/ignition       200 with the file `ignition`; 401 without the token in base64, as HyperShift's server has it; 511 while the file is not there
/progress       204, and the body is a line of the file `progress`
Each call is a line of the file `calls`: method, path, status.
"""
import base64
import http.server
import ssl
import sys

DIR = "/srv/api/"


class Api(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b""):
        with open(DIR + "calls", "a") as calls:
            calls.write(f"{self.command} {self.path} {status}\n")
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def is_known(self, form=lambda token: token):
        return self.headers.get("Authorization") == "Bearer " + form(open(DIR + "token").read().strip())

    def do_GET(self):
        if self.path.startswith("/payload"):
            return self.give("payload", self.is_known())
        if self.path == "/ignition":
            return self.give("ignition", self.is_known(lambda token: base64.b64encode(token.encode()).decode()))
        self.answer(404)

    def give(self, name, is_known):
        if not is_known:
            return self.answer(401)
        try:
            body = open(DIR + name, "rb").read()
        except FileNotFoundError:
            return self.answer(511)
        self.answer(200, body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.is_known():
            return self.answer(401)
        with open(DIR + "progress", "ab") as progress:
            progress.write(body.replace(b"\n", b" ") + b"\n")
        self.answer(204)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("0.0.0.0", 8443), Api)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(DIR + "cert.pem", DIR + "key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
sys.stdout.flush()
server.serve_forever()
