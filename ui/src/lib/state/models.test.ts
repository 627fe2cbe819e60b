import { expect, test } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import type { Endpoint, Model } from "../api/generated";
import { api } from "./api";
import { EndpointForm, hostOf, Models, PRESETS } from "./models.svelte";

const model = (id: string, over: Partial<Model> = {}): Model => ({ id, name: id, path: "", bytes: 1, sha256: "", architecture: "llama", context: 8192, fits: "yes", missing: false, note: null, default: false, ...over });
const endpoint = (id: string, url: string, over: Partial<Endpoint> = {}): Endpoint => ({ id, name: id, url, model: "", context: 8192, hasKey: false, keyIsForSession: false, default: false, countedWith: "estimate", meanError: null, learned: [], ...over });

async function models(local: Model[], endpoints: Endpoint[]) {
	const all = new Models(api(new FakeShell({ list_models: () => local, list_endpoints: () => endpoints })));
	await all.load();
	return all;
}

test("the chat's own model answers before the default", async () => {
	const all = await models([model("small", { default: true }), model("large")], [endpoint("far", "https://far.example/v1")]);
	expect(all.answering(null)).toEqual({ name: "small", host: null, endpoint: false });
	expect(all.answering({ kind: "local", id: "large" })?.name).toBe("large");
	expect(all.answering({ kind: "remote", id: "far" })).toEqual({ name: "far", host: "far.example", endpoint: true });
});

test("a choice that is gone gives way to the default", async () => {
	const all = await models([model("small", { default: true })], []);
	expect(all.answering({ kind: "local", id: "gone" })?.name).toBe("small");
});

test("without a default any file that is there answers, and nobody where there is none", async () => {
	expect((await models([model("lost", { missing: true }), model("there")], [])).answering(null)?.name).toBe("there");
	expect((await models([model("lost", { missing: true })], [endpoint("idle", "https://x.example")])).answering(null)).toBeNull();
});

test("this machine is no foreign host", () => {
	expect(hostOf("http://127.0.0.1:1234/v1")).toBeNull();
	expect(hostOf("http://localhost:8080/v1")).toBeNull();
	expect(hostOf("https://api.example.org/v1")).toBe("api.example.org");
});

test("a test fills in what the endpoint says of itself", async () => {
	const form = new EndpointForm(api(new FakeShell({ test_endpoint: () => ({ models: ["gemma", "qwen"], context: 32_768, tookMs: 5 }) })), null);
	form.use(PRESETS[2]!);
	await form.test();
	expect(form.draft).toMatchObject({ url: "http://127.0.0.1:1234/v1", model: "gemma", context: 32_768 });
});

test("a failed test says why and forgets it with the next address", async () => {
	const refuse = () => {
		throw { kind: "provider", class: "unreachable", message: "refused", hint: "start it" };
	};
	const form = new EndpointForm(api(new FakeShell({ test_endpoint: refuse })), null);
	form.use(PRESETS[0]!);
	await form.test();
	expect(form.failure).toMatchObject({ class: "unreachable" });
	expect(form.testing).toBe(false);
	form.use(PRESETS[1]!);
	expect(form.failure).toBeNull();
});

test("an untouched key is kept, and a nameless endpoint is named after its model", async () => {
	let saved: unknown;
	const shell = new FakeShell({ save_endpoint: ({ draft }: { draft: unknown }) => (saved = draft) });
	const form = new EndpointForm(api(shell), endpoint("far", "https://far.example/v1", { name: "", model: "qwen", hasKey: true }));
	await form.save();
	expect(saved).toMatchObject({ id: "far", key: null, name: "qwen" });
	form.typeKey("s");
	form.typeKey("");
	await form.save();
	expect(saved).toMatchObject({ key: null });
	form.forgetKey();
	await form.save();
	expect(saved).toMatchObject({ key: "" });
});

test("a chosen tokenizer counts at once, and a refused one changes nothing", async () => {
	const shell = new FakeShell({ remove_endpoint_tokenizer: ({ id }: { id: string }) => endpoint(id, "https://far.example/v1", { countedWith: "o200k_base" }) });
	const form = new EndpointForm(api(shell), endpoint("far", "https://far.example/v1"));
	await form.chooseTokenizer();
	expect(form.saved?.countedWith).toBe("estimate");
	shell.pickTokenizer = async (id) => endpoint(id, "https://far.example/v1", { countedWith: "tokenizer.json" });
	await form.chooseTokenizer();
	expect(form.saved?.countedWith).toBe("tokenizer.json");
	shell.pickTokenizer = async () => {
		throw { kind: "badInput", message: "this is no tokenizer.json", hint: "choose another" };
	};
	await form.chooseTokenizer();
	expect([form.saved?.countedWith, form.failure?.kind, form.choosing]).toEqual(["tokenizer.json", "badInput", false]);
	await form.removeTokenizer();
	expect([form.saved?.countedWith, form.failure]).toEqual(["o200k_base", null]);
});
