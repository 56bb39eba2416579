// A KMS v2 plugin for the suite: AES-GCM with the keys of a directory, the one of the highest name being the current one.
//
//	kms-plugin SOCKET DIRECTORY
package main

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"time"

	"k8s.io/kms/pkg/service"
)

type plugin struct{ dir string }

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: kms-plugin SOCKET DIRECTORY")
		os.Exit(2)
	}
	if err := os.RemoveAll(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	served := service.NewGRPCService(os.Args[1], 3*time.Second, plugin{os.Args[2]})
	if err := served.ListenAndServe(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The name of the current key.
func (p plugin) current() (string, error) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return "", err
	}
	if len(entries) == 0 {
		return "", errors.New("there is no key")
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name() < entries[j].Name() })
	return entries[len(entries)-1].Name(), nil
}

func (p plugin) cipher(id string) (cipher.AEAD, error) {
	text, err := os.ReadFile(filepath.Join(p.dir, filepath.Base(id)))
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(text)
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func (p plugin) Encrypt(_ context.Context, _ string, data []byte) (*service.EncryptResponse, error) {
	id, err := p.current()
	if err != nil {
		return nil, err
	}
	aead, err := p.cipher(id)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return &service.EncryptResponse{Ciphertext: aead.Seal(nonce, nonce, data, nil), KeyID: id}, nil
}

func (p plugin) Decrypt(_ context.Context, _ string, request *service.DecryptRequest) ([]byte, error) {
	aead, err := p.cipher(request.KeyID)
	if err != nil {
		return nil, err
	}
	size := aead.NonceSize()
	if len(request.Ciphertext) < size {
		return nil, errors.New("the ciphertext is too short")
	}
	return aead.Open(nil, request.Ciphertext[:size], request.Ciphertext[size:], nil)
}

func (p plugin) Status(context.Context) (*service.StatusResponse, error) {
	id, err := p.current()
	if err != nil {
		return nil, err
	}
	return &service.StatusResponse{Version: "v2", Healthz: "ok", KeyID: id}, nil
}
