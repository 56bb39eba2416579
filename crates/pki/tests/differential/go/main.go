// How Go reads certificate requests, for a test that compares it with how we do.
//
// Both directions are frames: four bytes of length, big endian, and so many bytes.
//
//	requests read          every frame in is a PEM text; every frame out says how Kubernetes' ParseCSR reads it
//	requests make COUNT    COUNT frames out, each an honest request as a kubelet makes it
package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	cryptorand "crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/binary"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os"
	"sort"
	"strconv"
	"strings"
)

const label = "CERTIFICATE REQUEST"

var (
	commonName   = asn1.ObjectIdentifier{2, 5, 4, 3}
	organization = asn1.ObjectIdentifier{2, 5, 4, 10}
	names        = asn1.ObjectIdentifier{2, 5, 29, 17}
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	switch {
	case len(os.Args) == 2 && os.Args[1] == "read":
		readAll(bufio.NewReader(os.Stdin), out)
	case len(os.Args) == 3 && os.Args[1] == "make":
		count, err := strconv.Atoi(os.Args[2])
		must(err)
		for index := 0; index < count; index++ {
			frame(out, honest(index))
		}
	default:
		fmt.Fprintln(os.Stderr, "usage: requests read | requests make COUNT")
		os.Exit(2)
	}
}

func readAll(in *bufio.Reader, out *bufio.Writer) {
	for {
		var length uint32
		if err := binary.Read(in, binary.BigEndian, &length); err == io.EOF {
			return
		} else {
			must(err)
		}
		text := make([]byte, length)
		_, err := io.ReadFull(in, text)
		must(err)
		frame(out, []byte(describe(text)))
		if in.Buffered() == 0 {
			must(out.Flush())
		}
	}
}

// describe reads as k8s.io/kubernetes/pkg/apis/certificates/v1.ParseCSR does.
func describe(text []byte) string {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != label {
		return "refused"
	}
	csr, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return "refused"
	}
	var commonNames, organizations, dns, ips []string
	others, extensions := 0, 0
	for _, attribute := range csr.Subject.Names {
		value, isText := attribute.Value.(string)
		switch {
		case isText && attribute.Type.Equal(commonName):
			commonNames = append(commonNames, hex.EncodeToString([]byte(value)))
		case isText && attribute.Type.Equal(organization):
			organizations = append(organizations, hex.EncodeToString([]byte(value)))
		default:
			others++
		}
	}
	for _, extension := range csr.Extensions {
		if !extension.Id.Equal(names) {
			extensions++
		}
	}
	for _, name := range csr.DNSNames {
		dns = append(dns, hex.EncodeToString([]byte(name)))
	}
	for _, ip := range csr.IPAddresses {
		ips = append(ips, hex.EncodeToString(ip))
	}
	sort.Strings(dns)
	sort.Strings(ips)
	return fmt.Sprintf("cn=%s o=%s others=%d dns=%s ip=%s mail=%d uri=%d extensions=%d signed=%t key=%x",
		strings.Join(commonNames, ","), strings.Join(organizations, ","), others,
		strings.Join(dns, ","), strings.Join(ips, ","), len(csr.EmailAddresses), len(csr.URIs),
		extensions, csr.CheckSignature() == nil, csr.RawSubjectPublicKeyInfo)
}

// honest is a request of the kinds that kubelets make: client, serving with one name, with several, with both families.
func honest(index int) []byte {
	curve := elliptic.P256()
	if index%7 == 6 {
		curve = elliptic.P384()
	}
	key, err := ecdsa.GenerateKey(curve, cryptorand.Reader)
	must(err)
	node := fmt.Sprintf("worker-%02d", index)
	template := &x509.CertificateRequest{
		Subject: pkix.Name{Organization: []string{"system:nodes"}, CommonName: "system:node:" + node},
	}
	if index%4 > 0 {
		template.DNSNames = []string{node}
		template.IPAddresses = []net.IP{net.IPv4(192, 168, byte(index>>8), byte(index))}
	}
	if index%4 > 1 {
		template.DNSNames = append(template.DNSNames, node+".example.org")
	}
	if index%4 > 2 {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP("2001:db8::"+strconv.Itoa(index%9999)))
	}
	der, err := x509.CreateCertificateRequest(cryptorand.Reader, template, key)
	must(err)
	return pem.EncodeToMemory(&pem.Block{Type: label, Bytes: der})
}

func frame(out *bufio.Writer, content []byte) {
	must(binary.Write(out, binary.BigEndian, uint32(len(content))))
	_, err := out.Write(content)
	must(err)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
