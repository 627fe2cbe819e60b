#!/bin/sh
# Uses tool servers from the package registries with the real `nook`, as a user would. Needs npx, python3 with pip, and the
# network, so it is not part of the tests. Usage: tests/clients/tool_servers.sh path/to/nook
set -eu
nook=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/notes"
echo "The lamp is lit." >"$work/notes/lamp.txt"
python3 -m venv "$work/python"
"$work/python/bin/pip" install --quiet mcp-server-time

cat >"$work/servers.json" <<JSON
{ "mcpServers": {
    "everything": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything"] },
    "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "$work/notes"] },
    "time": { "command": "$work/python/bin/mcp-server-time", "args": ["--local-timezone", "Europe/Oslo"] }
} }
JSON

run() {
    echo "\$ nook tool-servers $*"
    "$nook" --data-dir "$work/data" tool-servers "$@" 2>&1 | cut -c1-160
}

run paste "$work/servers.json"
for server in everything files time; do
    run test "$server"
    run on "$server" | head -n 2
done
run call everything echo '{"message": "hello"}'
run call everything get-sum '{"a": 2, "b": 40}'
run call files read_text_file "{\"path\": \"$work/notes/lamp.txt\"}"
run call files read_text_file '{"path": "/etc/passwd"}' || true
run call time get_current_time '{"timezone": "Asia/Tokyo"}'
run grant time get_current_time always
run list
