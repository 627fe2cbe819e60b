import { expect, test } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import type { ToolServer, ToolServerDraft } from "../api/generated";
import { api } from "./api";
import { ToolServerForm } from "./toolServerForm.svelte";
import { fileName, resourceKey, ToolServers as Servers } from "./toolServers.svelte";

const server = (over: Partial<ToolServer> = {}): ToolServer => ({ id: "s1", name: "Files", enabled: false, transport: { kind: "process", command: "npx", args: ["-y", "files"] }, values: [{ name: "KEY", stored: true }], valuesAreForSession: false, state: { kind: "off" }, tools: [], leftOut: [], ...over });

const attached: string[] = [];
const failures: unknown[] = [];
class ToolServers extends Servers {
	constructor(api: ConstructorParameters<typeof Servers>[0]) {
		super(api, { attached: (name) => attached.push(name), failed: (error) => failures.push(error) });
	}
}

test("resource is read only on request, and attached as a document", async () => {
	const asked: unknown[] = [];
	const shell = new FakeShell({
		read_server_resource: ({ uri }: { uri: string }) => (asked.push(uri), "The lamp is lit."),
		attach_document: (document: { owner: unknown; name: string; data: string }) => (asked.push(document), { name: document.name }),
	});
	const servers = new ToolServers(api(shell));
	const note = { uri: "file:///notes/ferry", name: "notes/ferry", description: "", mimeType: "text/markdown" };
	await servers.toggleResource(server(), note);
	expect(servers.texts.get(resourceKey(server(), note.uri))).toBe("The lamp is lit.");
	await servers.toggleResource(server(), note);
	expect(servers.texts.size).toBe(0);
	await servers.attachResource(server(), note, "chat1");
	expect(asked).toEqual([note.uri, note.uri, { owner: { of: "chat", id: "chat1" }, name: "ferry.md", data: btoa("The lamp is lit.") }]);
	expect(attached).toEqual(["ferry.md"]);
	const broken = new ToolServers(api(new FakeShell({ read_server_resource: () => { throw { kind: "toolServer", message: "It is off.", hint: "" }; } })));
	await broken.toggleResource(server(), note);
	expect(failures).toMatchObject([{ kind: "toolServer" }]);
	expect(broken.busy.size).toBe(0);
});

test("document of a resource has a plain name and an extension", () => {
	const name = (name: string, mimeType: string | null, uri = "note:1") => fileName({ name, uri, description: "", mimeType });
	expect([name("ferry.md", "text/plain"), name("a\\b/page", "text/html"), name("", null), name("/", null, "x://")]).toEqual(["ferry.md", "page.html", "note:1.txt", "resource.txt"]);
});

test("failed test keeps the list and shows the reason", async () => {
	const refuse = () => {
		throw { kind: "toolServer", message: "The server ended.", hint: "Check the command." };
	};
	const servers = new ToolServers(api(new FakeShell({ list_tool_servers: () => [server()], test_tool_server: refuse })));
	await servers.load();
	await servers.test(server());
	expect(servers.tests.get("s1")).toMatchObject({ failure: { kind: "toolServer" } });
	expect(servers.failure).toBeNull();
	expect(servers.all).toHaveLength(1);
	expect(servers.busy.size).toBe(0);
});

test("switch shows the server as the engine returns it", async () => {
	const servers = new ToolServers(api(new FakeShell({ list_tool_servers: () => [server()], switch_tool_server: () => server({ enabled: true, state: { kind: "running" } }) })));
	await servers.load();
	await servers.switch(server(), true);
	expect(servers.all?.[0]).toMatchObject({ enabled: true, state: { kind: "running" } });
});

test("change of another window loads a shown list only", async () => {
	let loads = 0;
	const servers = new ToolServers(api(new FakeShell({ list_tool_servers: () => ((loads += 1), []) })));
	await servers.changed();
	expect(loads).toBe(0);
	await servers.load();
	await servers.changed();
	expect(loads).toBe(2);
});

test("form keeps stored values and skips empty lines", async () => {
	let saved: ToolServerDraft | undefined;
	const form = new ToolServerForm(api(new FakeShell({ save_tool_server: ({ draft }: { draft: ToolServerDraft }) => ((saved = draft), server()) })), server());
	form.args = "-y\n\n files \n";
	form.addValue();
	form.addValue();
	form.values[1] = { name: " NEW ", value: "n", stored: false };
	await form.save();
	expect(saved).toEqual({ id: "s1", name: "Files", transport: { kind: "process", command: "npx", args: ["-y", "files"] }, values: [{ name: "KEY", value: null }, { name: "NEW", value: "n" }] });
});

test("form needs a name and a command or an address", () => {
	const form = new ToolServerForm(api(new FakeShell({})), null);
	form.name = "Time";
	expect(form.ready).toBe(false);
	form.command = "uvx";
	expect(form.ready).toBe(true);
	form.kind = "http";
	expect(form.ready).toBe(false);
});

test("draft of a server has no values, and Undo brings them back", () => {
	const form = new ToolServerForm(api(new FakeShell({})), server());
	form.command = "uvx";
	form.values[0]!.value = "one-secret";
	form.addValue();
	Object.assign(form.values[1]!, { name: "NEW", value: "two-secret" });
	expect(form.written).not.toMatch(/secret/);
	expect(form.hasSecrets).toBe(true);

	const reloaded = new ToolServerForm(api(new FakeShell({})), server());
	reloaded.show(form.written);
	expect([reloaded.command, reloaded.hasSecrets]).toEqual(["uvx", false]);
	expect(reloaded.values).toEqual([{ name: "KEY", value: "", stored: true }, { name: "NEW", value: "", stored: false }]);

	const undone = new ToolServerForm(api(new FakeShell({})), server(), form.values);
	expect(undone.values).toEqual([{ name: "KEY", value: "one-secret", stored: true }]);
	undone.show(form.written);
	expect(undone.values.map(({ value }) => value)).toEqual(["one-secret", "two-secret"]);
});
