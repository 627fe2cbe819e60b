import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Event } from "./generated";
import { TauriTransport } from "./tauri";

const invoke = vi.fn();
let callbacks: ((message: unknown) => void)[];

beforeEach(() => {
	callbacks = [];
	vi.stubGlobal("__TAURI_INTERNALS__", {
		invoke,
		transformCallback: (callback: (message: unknown) => void) => callbacks.push(callback) - 1,
		convertFileSrc: (path: string, protocol: string) => `${protocol}://localhost/${encodeURIComponent(path)}`,
	});
});

afterEach(() => {
	invoke.mockReset();
	vi.unstubAllGlobals();
});

test("one command calls every operation, with its arguments as JSON", async () => {
	invoke.mockResolvedValue({ id: "c" });
	expect(await new TauriTransport().call("open_chat", { id: "c" })).toEqual({ id: "c" });
	expect(invoke.mock.calls[0]?.slice(0, 2)).toEqual(["call", { operation: "open_chat", arguments: '{"id":"c"}' }]);
});

test("rejection keeps its kind, others become internal", async () => {
	invoke.mockRejectedValueOnce({ kind: "busy", message: "a reply is being written", hint: "" });
	await expect(new TauriTransport().call("regenerate", {})).rejects.toMatchObject({ kind: "busy" });
	invoke.mockRejectedValueOnce("command not found");
	await expect(new TauriTransport().call("nonsense", {})).rejects.toEqual({ kind: "internal", message: "command not found" });
});

test("events arrive in the order they were sent", async () => {
	const heard: Event[] = [];
	const states: string[] = [];
	invoke.mockResolvedValue(null);
	new TauriTransport().subscribe((event) => heard.push(event), (state) => states.push(state));
	await vi.waitFor(() => expect(states).toEqual(["live"]));
	callbacks[0]?.({ index: 1, message: { event: "missed" } });
	callbacks[0]?.({ index: 0, message: { event: "queued", chat: "c" } });
	expect(heard).toEqual([{ event: "queued", chat: "c" }, { event: "missed" }]);
});

test("picture address contains only its hash", async () => {
	expect(await new TauriTransport().assetUrl("abc")).toBe("nook://localhost/asset/abc");
});

test("shell functions call their own commands", async () => {
	invoke.mockResolvedValue(null);
	const shell = new TauriTransport();
	await shell.pickImport();
	await shell.pickModel();
	await shell.pickAdapter("m");
	await shell.pickProjector("m");
	await shell.pickEmbeddingModel();
	await shell.pickTokenizer("e");
	await shell.exportCharacter("c", "json-v3");
	expect(invoke.mock.calls.map((call) => call.slice(0, 2))).toEqual([
		["pick_import", {}],
		["pick_model", {}],
		["pick_adapter", { model: "m" }],
		["pick_projector", { model: "m" }],
		["pick_embedding_model", {}],
		["pick_tokenizer", { endpoint: "e" }],
		["export_character", { id: "c", format: "json-v3" }],
	]);
});

test("access is reported as it changes", async () => {
	const heard: string[] = [];
	invoke.mockResolvedValue(null);
	const stop = new TauriTransport().watchAccess(({ state }) => heard.push(state));
	expect(invoke.mock.calls[0]?.[0]).toBe("watch_access");
	callbacks[0]?.({ index: 0, message: { state: "opening" } });
	callbacks[0]?.({ index: 1, message: { state: "open" } });
	stop();
	callbacks[0]?.({ index: 2, message: { state: "opening" } });
	expect(heard).toEqual(["opening", "open"]);
});

test("shell without a lock is open", async () => {
	const heard: string[] = [];
	invoke.mockRejectedValue("command not found");
	new TauriTransport().watchAccess(({ state }) => heard.push(state));
	await vi.waitFor(() => expect(heard).toEqual(["open"]));
});

test("lock and encryption call their own commands", async () => {
	invoke.mockResolvedValue(null);
	const shell = new TauriTransport();
	await shell.unlock("recovery_code", "CNK6C");
	await shell.lock();
	await shell.markActive();
	await shell.prepareProtection("kettle");
	await shell.forgetPreparation();
	await shell.protect("CNK6C");
	await shell.unprotect("kettle");
	await shell.restartLocked();
	await shell.savedLanguage();
	expect(invoke.mock.calls.map((call) => call.slice(0, 2))).toEqual([
		["unlock", { kind: "recovery_code", text: "CNK6C" }],
		["lock", {}],
		["mark_active", {}],
		["prepare_protection", { passphrase: "kettle" }],
		["forget_preparation", {}],
		["protect", { code: "CNK6C" }],
		["unprotect", { passphrase: "kettle" }],
		["restart_locked", {}],
		["saved_language", {}],
	]);
});
