// SPDX-License-Identifier: Apache-2.0

// What client-go makes of kubeconfigs and of plugins' replies: its side of tests/oracle/test-kubeconfig and test-plugin-reply.
//
// Requests come one after the other, each a decimal length, a line end and JSON: see type request. An
// answer is "ok LENGTH\nJSON" or "error LENGTH\ntext". With the arguments "pair FOLDER" it writes a certificate and its key there.
package main

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/pkg/apis/clientauthentication"
	"k8s.io/client-go/plugin/pkg/client/auth/exec"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/transport"
)

type request struct {
	Reply      string            // a file that a plugin prints; the rest is then the plugin's apiVersion
	APIVersion string            //
	Kubeconfig string            // an explicit file
	Env        map[string]string // KUBECONFIG
	Options    struct {
		Context, Cluster, User, Namespace, Server, TLSServerName string
		CertificateAuthority, ClientCertificate, ClientKey       string
		Token, ProxyURL, As, AsUID                               string
		AsGroups                                                 []string
		Insecure                                                 bool
	}
}

type answer struct {
	Server, Namespace, TLSServerName, ProxyURL string
	TLS, Insecure                              bool
	Token, TokenFile, Username, Password       string
	CA, CAFile, Certificate, CertificateFile   string
	Key, KeyFile                               string
	As, AsUID                                  string
	AsGroups                                   []string
	AsExtra                                    map[string][]string
	Exec                                       *execAnswer
}

type execAnswer struct {
	APIVersion, Command, InstallHint, InteractiveMode string
	Args                                              []string
	Env                                               [][2]string
	ProvideClusterInfo                                bool
	Extension                                         string
}

func overrides(asked *request) *clientcmd.ConfigOverrides {
	o := asked.Options
	out := &clientcmd.ConfigOverrides{CurrentContext: o.Context}
	out.Context.Cluster, out.Context.AuthInfo, out.Context.Namespace = o.Cluster, o.User, o.Namespace
	out.ClusterInfo.Server, out.ClusterInfo.TLSServerName = o.Server, o.TLSServerName
	out.ClusterInfo.CertificateAuthority, out.ClusterInfo.InsecureSkipTLSVerify = o.CertificateAuthority, o.Insecure
	out.ClusterInfo.ProxyURL = o.ProxyURL
	out.AuthInfo.ClientCertificate, out.AuthInfo.ClientKey, out.AuthInfo.Token = o.ClientCertificate, o.ClientKey, o.Token
	out.AuthInfo.Impersonate, out.AuthInfo.ImpersonateUID, out.AuthInfo.ImpersonateGroups = o.As, o.AsUID, o.AsGroups
	return out
}

func extension(config runtime.Object) string {
	unknown, is := config.(*runtime.Unknown)
	if !is {
		return ""
	}
	var compact bytes.Buffer
	if json.Compact(&compact, unknown.Raw) != nil {
		return string(unknown.Raw)
	}
	return compact.String()
}

func describe(config *rest.Config, namespace string) (*answer, error) {
	url, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	if _, err := rest.HTTPClientFor(config); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	out := &answer{
		Server: strings.TrimRight(url.Scheme+"://"+url.Host+url.EscapedPath(), "/"), TLS: url.Scheme == "https",
		Namespace: namespace, TLSServerName: config.ServerName, Insecure: config.Insecure,
		Token: config.BearerToken, TokenFile: config.BearerTokenFile, Username: config.Username, Password: config.Password,
		CA: string(config.CAData), CAFile: config.CAFile, Certificate: string(config.CertData), CertificateFile: config.CertFile,
		Key: string(config.KeyData), KeyFile: config.KeyFile,
		As: config.Impersonate.UserName, AsUID: config.Impersonate.UID, AsGroups: config.Impersonate.Groups,
		AsExtra: config.Impersonate.Extra,
	}
	if config.Proxy != nil {
		asked, err := http.NewRequest("GET", out.Server, nil)
		if err != nil {
			return nil, err
		}
		proxy, err := config.Proxy(asked)
		if err != nil {
			return nil, err
		}
		out.ProxyURL = proxy.String()
	}
	if e := config.ExecProvider; e != nil {
		out.Exec = &execAnswer{APIVersion: e.APIVersion, Command: e.Command, InstallHint: e.InstallHint,
			InteractiveMode: string(e.InteractiveMode), Args: e.Args, ProvideClusterInfo: e.ProvideClusterInfo,
			Extension: extension(e.Config)}
		for _, variable := range e.Env {
			out.Exec.Env = append(out.Exec.Env, [2]string{variable.Name, variable.Value})
		}
	}
	return out, nil
}

// identity is what a plugin's reply becomes.
type identity struct {
	Authorization string
	Certificate   bool
}

type capture struct {
	authorization string
}

func (c *capture) RoundTrip(asked *http.Request) (*http.Response, error) {
	c.authorization = asked.Header.Get("Authorization")
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

// plug runs `cat` as a plugin, as client-go does, and sends a request with what comes of it.
func plug(asked *request) (*identity, error) {
	authenticator, err := exec.GetAuthenticator(&api.ExecConfig{Command: "cat", Args: []string{asked.Reply}, APIVersion: asked.APIVersion,
		InteractiveMode: api.NeverExecInteractiveMode}, &clientauthentication.Cluster{})
	if err != nil {
		return nil, err
	}
	config := &transport.Config{}
	if err := authenticator.UpdateTransportConfig(config); err != nil {
		return nil, err
	}
	seen := &capture{}
	request, err := http.NewRequest("GET", "https://h", nil)
	if err != nil {
		return nil, err
	}
	if _, err := config.WrapTransport(seen).RoundTrip(request); err != nil {
		return nil, err
	}
	certificate, err := config.TLS.GetCertHolder.GetCert()
	if err != nil {
		return nil, err
	}
	return &identity{seen.authorization, certificate != nil}, nil
}

func reply(text []byte) (any, error) {
	var asked request
	if err := json.Unmarshal(text, &asked); err != nil {
		return nil, err
	}
	if asked.Reply != "" {
		return plug(&asked)
	}
	os.Unsetenv("KUBECONFIG")
	for name, value := range asked.Env {
		os.Setenv(name, value)
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = asked.Kubeconfig
	rules.Warner = func(error) {}
	client := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides(&asked))
	config, err := client.ClientConfig()
	if err != nil {
		return nil, err
	}
	namespace, _, err := client.Namespace()
	if err != nil {
		return nil, err
	}
	return describe(config, namespace)
}

func pair(folder string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(folder, "crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}), 0o600),
		os.WriteFile(filepath.Join(folder, "key"), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}), 0o600))
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "pair" {
		if err := pair(os.Args[2]); err != nil {
			panic(err)
		}
		return
	}
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		var size int
		if _, err := fmt.Fscanf(in, "%d\n", &size); err != nil {
			return
		}
		text := make([]byte, size)
		if _, err := io.ReadFull(in, text); err != nil {
			panic(err)
		}
		word, made := "ok", []byte(nil)
		config, err := reply(text)
		if err == nil {
			made, err = json.Marshal(config)
		}
		if err != nil {
			word, made = "error", []byte(err.Error())
		}
		fmt.Fprintf(out, "%s %d\n%s", word, len(made), made)
	}
}
