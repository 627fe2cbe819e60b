import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Event } from "./generated";
import { HttpTransport, takeToken } from "./http";
import type { Connection } from "./transport";

class FakeSocket {
	static all: FakeSocket[] = [];
	onopen = () => {};
	onclose = () => {};
	onmessage = (_: { data: string }) => {};
	constructor(readonly url: string) {
		FakeSocket.all.push(this);
	}
	close() {}
}

const requests: { path: string; init: RequestInit }[] = [];
let answer: (path: string) => Response;

beforeEach(() => {
	vi.useFakeTimers();
	requests.length = 0;
	FakeSocket.all = [];
	answer = () => Response.json({ ticket: "t1" });
	vi.stubGlobal("WebSocket", FakeSocket);
	vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
		requests.push({ path, init });
		return answer(path);
	});
});

afterEach(() => {
	vi.useRealTimers();
	vi.unstubAllGlobals();
	sessionStorage.clear();
});

test("token leaves the address and survives a reload", () => {
	history.replaceState(null, "", "/#token=secret");
	expect(takeToken()).toBe("secret");
	expect(location.hash).toBe("");
	expect(takeToken()).toBe("secret");
});

test("call sends the token and its arguments", async () => {
	answer = () => Response.json({ id: "c" });
	expect(await new HttpTransport("secret").call("open_chat", { id: "c" })).toEqual({ id: "c" });
	const [{ path, init }] = requests as [(typeof requests)[0]];
	expect(path).toBe("/api/op/open_chat");
	expect(init.body).toBe('{"id":"c"}');
	expect(init.headers).toMatchObject({ Authorization: "Bearer secret" });
});

test("call without a result returns null", async () => {
	answer = () => new Response("");
	expect(await new HttpTransport("x").call("stop", { chat: "c" })).toBeNull();
});

test("rejected call returns the engine's error", async () => {
	answer = () => Response.json({ kind: "busy", message: "a reply is being written", hint: "wait" }, { status: 409 });
	await expect(new HttpTransport("x").call("regenerate", {})).rejects.toMatchObject({ kind: "busy", hint: "wait" });
});

test("dead server and wrong token are reported", async () => {
	answer = () => new Response("no", { status: 401 });
	await expect(new HttpTransport("x").call("startup", {})).rejects.toMatchObject({ message: expect.stringContaining("token") });
	answer = () => {
		throw new TypeError("fetch failed");
	};
	await expect(new HttpTransport("x").call("startup", {})).rejects.toMatchObject({ message: expect.stringContaining("is not responding") });
});

test("lost socket reconnects and reports missed events", async () => {
	const events: Event[] = [];
	const states: Connection[] = [];
	const stop = new HttpTransport("x").subscribe((event) => events.push(event), (state) => states.push(state));
	await vi.advanceTimersByTimeAsync(0);
	FakeSocket.all[0]?.onopen();
	FakeSocket.all[0]?.onmessage({ data: '{"event":"queued","chat":"c"}' });
	FakeSocket.all[0]?.onclose();
	expect(FakeSocket.all).toHaveLength(1);
	await vi.advanceTimersByTimeAsync(250);
	expect(FakeSocket.all[1]?.url).toContain("/api/events?ticket=t1");
	FakeSocket.all[1]?.onopen();
	expect(states).toEqual(["live", "lost", "live"]);
	expect(events).toEqual([{ event: "queued", chat: "c" }, { event: "missed" }]);
	stop();
	FakeSocket.all[1]?.onclose();
	await vi.advanceTimersByTimeAsync(60_000);
	expect(FakeSocket.all).toHaveLength(2);
});

test("imports files one by one into one report", async () => {
	answer = (path) => Response.json(path.includes("bad") ? { imported: [], skipped: [], refused: [{ file: "bad", kind: "noCard", reason: "" }] } : { imported: [{ name: "Mira" }], skipped: [], refused: [] });
	const report = await new HttpTransport("x").importFiles([new File(["1"], "mira & co.png"), new File(["2"], "bad.png")]);
	expect(requests.map(({ path }) => path)).toEqual(["/api/import?name=mira%20%26%20co.png&of_many=true", "/api/import?name=bad.png&of_many=true", "/api/op/keep_import_report"]);
	expect([report.imported.length, report.refused.length]).toEqual([1, 1]);
});

test("chosen tokenizer is sent to its endpoint", async () => {
	const file = new File(["{}"], "tokenizer.json");
	let chosen: File[] = [];
	const click = vi.spyOn(HTMLInputElement.prototype, "click").mockImplementation(function (this: HTMLInputElement) {
		Object.defineProperty(this, "files", { value: chosen });
		this.onchange?.(new globalThis.Event("change"));
	});
	answer = () => Response.json({ id: "a/b", countedWith: "tokenizer.json" });
	expect(await new HttpTransport("x").pickTokenizer("a/b")).toBeNull();
	chosen = [file];
	expect(await new HttpTransport("x").pickTokenizer("a/b")).toMatchObject({ countedWith: "tokenizer.json" });
	expect(requests.map(({ path, init }) => [path, init.body])).toEqual([["/api/tokenizer/a%2Fb", file]]);
	click.mockRestore();
});

test("file input stays in the document until its dialog closes", async () => {
	const inputs = () => [...document.querySelectorAll<HTMLInputElement>("input[type=file]")];
	const transport = new HttpTransport("x");
	const cancelled = transport.pickImport();
	expect(inputs()).toHaveLength(1);
	expect([inputs()[0]?.hidden, inputs()[0]?.tabIndex, inputs()[0]?.getAttribute("aria-hidden")]).toEqual([true, -1, "true"]);
	inputs()[0]?.dispatchEvent(new Event("cancel"));
	expect(await cancelled).toBeNull();
	expect(inputs()).toEqual([]);

	answer = () => Response.json({ imported: [{ name: "Mira" }], skipped: [], refused: [], cancelled: false, choices: [] });
	const chosen = transport.pickImport();
	Object.defineProperty(inputs()[0], "files", { value: [new File(["x"], "mira.png")] });
	inputs()[0]?.dispatchEvent(new Event("change"));
	expect((await chosen)?.imported).toMatchObject([{ name: "Mira" }]);
	expect(inputs()).toEqual([]);
});
