import { expect, test } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import type { Endpoint, EndpointDraft, EndpointService } from "../api/generated";
import { api } from "./api";
import { EndpointForm } from "./endpointForm.svelte";

const endpoint = (id: string, url: string, over: Partial<Endpoint> = {}): Endpoint => ({ id, name: id, dialect: "openai", url, model: "", context: 8192, models: [], headers: [], hasKey: false, keyIsForSession: false, default: false, defaultModel: null, countedWith: "estimate", meanError: null, learned: [], ...over });
const LM_STUDIO: EndpointService = { id: "lmstudio", name: "LM Studio", url: "http://127.0.0.1:1234/v1", dialect: "openai", key: "none", keyUrl: "" };
const CLAUDE: EndpointService = { id: "anthropic", name: "Anthropic", url: "https://api.anthropic.com/v1", dialect: "anthropic", key: "required", keyUrl: "https://example.org" };

test("test fills in what the endpoint reports", async () => {
	const form = new EndpointForm(api(new FakeShell({ test_endpoint: () => ({ models: [{ name: "gemma", context: null, typed: false }, { name: "qwen", context: 4096, typed: false }], context: 32_768, tookMs: 5 }) })), null);
	form.use(LM_STUDIO);
	await form.test();
	expect(form.draft).toMatchObject({ url: "http://127.0.0.1:1234/v1", model: "gemma", context: 32_768 });
});

test("service sets the API, and other addresses choose it", async () => {
	let saved: EndpointDraft | undefined;
	const form = new EndpointForm(api(new FakeShell({ save_endpoint: ({ draft }: { draft: EndpointDraft }) => (saved = draft) })), null);
	expect(form.draft.dialect).toBeNull();
	form.use(CLAUDE);
	await form.save();
	expect(saved?.dialect).toBe("anthropic");
	form.use(null);
	await form.save();
	expect(saved?.dialect).toBeNull();
	const stored = new EndpointForm(api(new FakeShell({})), endpoint("far", "https://far.example/v1", { dialect: "text" }));
	expect(stored.draft.dialect).toBe("text");
});

test("failed test shows its error until the next address", async () => {
	const refuse = () => {
		throw { kind: "provider", class: "unreachable", message: "refused", hint: "start it" };
	};
	const form = new EndpointForm(api(new FakeShell({ test_endpoint: refuse })), null);
	form.use(LM_STUDIO);
	await form.test();
	expect(form.failure).toMatchObject({ class: "unreachable" });
	expect(form.testing).toBe(false);
	form.use(null);
	expect(form.failure).toBeNull();
});

test("unchanged key is kept, and the model gives a name", async () => {
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

test("chosen tokenizer applies at once or has no effect", async () => {
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

test("service fills in its address, a typed name stays", async () => {
	const router: EndpointService = { id: "openrouter", name: "OpenRouter", url: "https://openrouter.ai/api/v1", key: "required", keyUrl: "https://openrouter.ai/settings/keys" };
	const form = new EndpointForm(api(new FakeShell({ endpoint_services: () => [LM_STUDIO, router] })), null);
	await form.load();
	form.use(LM_STUDIO);
	form.use(router);
	expect([form.draft.name, form.draft.url, form.known?.key]).toEqual(["OpenRouter", router.url, "required"]);
	form.draft.name = "Mine";
	form.use(LM_STUDIO);
	expect([form.draft.name, form.draft.url]).toEqual(["Mine", LM_STUDIO.url]);
	form.use(null);
	expect([form.draft.name, form.draft.url, form.known]).toEqual(["Mine", "", null]);
});

test("stored headers stay, and blank rows are omitted", async () => {
	let saved: EndpointDraft | undefined;
	const shell = new FakeShell({ save_endpoint: ({ draft }: { draft: EndpointDraft }) => (saved = draft) });
	const form = new EndpointForm(api(shell), endpoint("far", "https://far.example/v1", { headers: ["x-team", "x-old"] }));
	form.removeHeader(1);
	form.addHeader();
	form.addHeader();
	Object.assign(form.headers[1]!, { name: "X-New", value: "b" });
	await form.save();
	expect(saved?.headers).toEqual([{ name: "x-team", value: null }, { name: "X-New", value: "b" }]);
});

test("typed models stay when the server lists others", async () => {
	const listed = [{ name: "a", context: 4096, typed: false }];
	const form = new EndpointForm(api(new FakeShell({ test_endpoint: () => ({ models: listed, context: null, tookMs: 1 }) })), null);
	form.draft.url = "http://127.0.0.1:1/v1";
	for (const name of [" hidden ", "hidden"]) {
		form.adding = name;
		form.addModel();
	}
	expect(form.adding).toBe("");
	await form.test();
	expect(form.models.map(({ name }) => name)).toEqual(["a", "hidden"]);
	form.removeModel("hidden");
	expect([form.models.length, form.draft.model]).toEqual([1, "a"]);
});

test("draft has no secrets, and Undo brings them back", async () => {
	let saved: EndpointDraft | undefined;
	const engine = api(new FakeShell({ save_endpoint: ({ draft }: { draft: EndpointDraft }) => (saved = draft) }));
	const stored = endpoint("far", "https://far.example/v1", { headers: ["x-team"], models: [{ id: "m", name: "listed", context: null, typed: false }] });
	const form = new EndpointForm(engine, stored);
	const before = form.written;
	form.typeKey("sk-secret");
	form.headers[0]!.value = "lamp-secret";
	expect([form.written, form.hasSecrets]).toEqual([before, true]);
	form.draft.name = "Far away";
	form.adding = "hidden";
	form.addModel();
	form.adding = "half";
	form.addHeader();
	Object.assign(form.headers[1]!, { name: "X-New", value: "new-secret" });
	expect(form.written).not.toMatch(/secret/);

	const reloaded = new EndpointForm(engine, stored);
	reloaded.show(form.written);
	expect([reloaded.written, reloaded.hasSecrets]).toEqual([form.written, false]);
	expect(reloaded.headers).toEqual([{ name: "x-team", value: "", stored: true }, { name: "X-New", value: "", stored: false }]);

	const undone = new EndpointForm(engine, stored, form.secrets);
	undone.show(form.written);
	expect(undone.adding).toBe("half");
	await undone.save();
	expect(saved).toMatchObject({ name: "Far away", key: "sk-secret", headers: [{ name: "x-team", value: "lamp-secret" }, { name: "X-New", value: "new-secret" }] });
	expect(saved?.models?.map(({ name }) => name)).toEqual(["listed", "hidden"]);
});

test("Undo without a draft brings back what only secrets change", () => {
	const stored = endpoint("far", "https://far.example/v1", { headers: ["x-team"], hasKey: true });
	const form = new EndpointForm(api(new FakeShell({})), stored);
	form.headers[0]!.value = "lamp";
	form.forgetKey();
	const undone = new EndpointForm(api(new FakeShell({})), stored, form.secrets);
	expect([undone.headers[0]?.value, undone.draft.key, undone.hasKey]).toEqual(["lamp", "", false]);
});
