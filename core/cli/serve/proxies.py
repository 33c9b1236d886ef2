"""Configuration of HAProxy and nginx in front of several app processes: one browser always reaches the same process.

A page's connection, its uploads and its downloads have to reach one process, because Streamlit keeps them in its memory.
A client's address counts as the proxy sees it. What clients say about it themselves is removed, unless they are named
proxies. The app processes know the proxy by a secret, because any program of this machine reaches their ports.
Both proxies recognise a browser by a cookie of their own, `assay-process`. HAProxy writes the process into it and
chooses the one with the fewest connections. nginx writes a random name, and the process follows from its hash.
"""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.access import FRONT_HEADER

COOKIE = "assay-process"
"""Not `assay_...`: a session lasts only while the app's own cookies stay the same, and this one may change."""
PROXY_NAMES = ("haproxy", "nginx")


@dataclass(frozen=True)
class Door:
    """Where browsers connect, and the ports of the app processes behind it, on this machine.

    named: IP addresses and networks of proxies before this one, whose word on a client counts. secret: what the app processes
    know this proxy by; empty if they know it by its address.
    """

    address: str
    port: int
    processes: Sequence[int]
    named: Sequence[str] = ()
    secret: str = ""

    @property
    def bound(self) -> str:
        """Address and port, as both proxies write them."""
        return f"{_bracketed(self.address)}:{self.port}"


def _bracketed(address: str) -> str:
    try:
        return f"[{address}]" if ipaddress.ip_address(address).version == 6 else address
    except ValueError:
        return address


def configuration(proxy: str, door: Door) -> str:
    """Return a complete configuration file. proxy: one of PROXY_NAMES."""
    return {"haproxy": _haproxy, "nginx": _nginx}[proxy](door)


def start_command(proxy: str, program: str, file: Path) -> list[str]:
    """Return the command that runs a proxy in the foreground with the configuration in `file`."""
    if proxy == "haproxy":
        return [program, "-db", "-f", str(file)]
    folder = f"{file.parent}/"  # nginx writes its process id there
    return [program, "-p", folder, "-c", str(file), "-e", "stderr", "-g", "daemon off;"]


def _haproxy(door: Door) -> str:
    servers = "\n".join(
        f"    server p{number} 127.0.0.1:{port} cookie p{number}"
        for number, port in enumerate(door.processes, 1)
    )
    # A name is compared in lower case.
    unless = " unless named" if door.named else ""
    named = f"\n    acl named src {' '.join(door.named)}" if door.named else ""
    secret = f"\n    http-request set-header {FRONT_HEADER} {door.secret}" if door.secret else ""
    return f"""\
# HAProxy in front of {len(door.processes)} app processes of Assay. Check: haproxy -c -f FILE. Start: haproxy -f FILE
global
    maxconn 4000                 # a rater has one lasting connection

defaults
    mode http
    maxconn 4000
    timeout connect      2s
    timeout http-request 30s
    timeout client       2m
    timeout server       2m
    timeout tunnel       1h      # a rater may think for a while
    # A process that refuses the connection is left for another one at once.
    retries 3
    option redispatch 1

listen assay
    bind {door.bound}
    # With TLS: bind :443 ssl crt /etc/ssl/study.pem (certificate and key), and add `secure` to the cookie.
    # What a client says about itself counts for nothing; what a named proxy before this one says is passed on.{named}
    http-request del-header ^(x[-_])?forwarded([-_].*)?$ -m reg{unless}
    http-request del-header ^x[-_](real|assay|streamlit)[-_] -m reg
    http-request set-header X-Forwarded-Proto https if {{ ssl_fc }}
    http-request set-header X-Forwarded-Proto http unless {{ req.hdr(X-Forwarded-Proto) -m found }}{secret}
    acl forwarded req.hdr(X-Forwarded-For) -m found
    http-request set-header X-Forwarded-For "%[req.fhdr(X-Forwarded-For)], %[src]" if forwarded
    http-request set-header X-Forwarded-For %[src] unless forwarded
    balance leastconn
    # Lax, so that a link in a mail does not move a browser to another process.
    cookie {COOKIE} insert indirect nocache httponly attr SameSite=Lax
    option httpchk
    http-check send meth GET uri /_stcore/health ver HTTP/1.1 hdr Host localhost
    http-check expect status 200
    timeout check 5s             # a busy process answers late
    # The connections of a process that hangs are closed, so that its browsers go to another one.
    default-server check inter 1s fastinter 300ms downinter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
{servers}
"""


def _nginx(door: Door) -> str:
    servers = "\n".join(
        f"        server 127.0.0.1:{port} max_fails=1 fail_timeout=10s;" for port in door.processes
    )
    named = "".join(f" {proxy} 1;" for proxy in door.named)
    secret = f"\n            proxy_set_header {FRONT_HEADER} {door.secret};" if door.secret else ""
    return f"""\
# nginx in front of {len(door.processes)} app processes of Assay. Check: nginx -t -p FOLDER/ -c FILE -e stderr
# Start: nginx -p FOLDER/ -c FILE -e stderr. In an nginx of the system, put what is inside `http` into a file of conf.d.
worker_processes 1;
pid nginx.pid;
error_log stderr;
events {{
    worker_connections 8000;     # a rater has one lasting connection, and nginx one more to the process
}}
http {{
    access_log off;
    client_body_temp_path nginx-body;
    proxy_temp_path       nginx-proxy;
    fastcgi_temp_path     nginx-fastcgi;
    uwsgi_temp_path       nginx-uwsgi;
    scgi_temp_path        nginx-scgi;

    map $http_upgrade $connection_upgrade {{
        default upgrade;
        ''      close;
    }}

    # What a client says about itself counts for nothing; what a named proxy before this one says is passed on.
    geo $named {{ default 0;{named} }}
    map $named $client {{
        1       $proxy_add_x_forwarded_for;
        default $remote_addr;
    }}
    map $named$http_x_forwarded_proto $client_scheme {{
        1http   http;
        1https  https;
        default $scheme;
    }}

    # A browser's name, which the first answer sets: the process follows from its hash.
    userid         on;
    userid_name    {COOKIE};
    userid_path    /;
    userid_flags   httponly samesite=lax;

    upstream assay {{
        hash $uid_got$uid_set consistent;
{servers}
    }}

    server {{
        listen {door.bound};
        client_max_body_size 110m;   # uploads have at most 100 MB
        location / {{
            proxy_pass http://assay;
            proxy_http_version 1.1;
            proxy_set_header Host              $http_host;
            proxy_set_header X-Forwarded-For   $client;
            proxy_set_header X-Forwarded-Proto $client_scheme;{secret}
            proxy_set_header Forwarded         "";
            proxy_set_header X-Real-IP         "";
            proxy_set_header X-Forwarded-Host  "";
            proxy_set_header X-Forwarded-Port  "";
            proxy_set_header Upgrade           $http_upgrade;
            proxy_set_header Connection        $connection_upgrade;
            proxy_request_buffering off; # uploads and downloads pass without a file
            proxy_max_temp_file_size 0;
            proxy_connect_timeout 2s;
            proxy_read_timeout 1h;       # a rater may think for a while
            proxy_send_timeout 1h;
        }}
    }}
}}
"""
