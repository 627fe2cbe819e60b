import { expect, test } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import type { Endpoint, Model } from "../api/generated";
import { api } from "./api";
import { hostOf, Models } from "./models.svelte";

const model = (id: string, over: Partial<Model> = {}): Model => ({ id, name: id, path: "", bytes: 1, sha256: "", architecture: "llama", context: 8192, fits: "yes", missing: false, note: null, default: false, readsPictures: false, ...over });
const endpoint = (id: string, url: string, over: Partial<Endpoint> = {}): Endpoint => ({ id, name: id, dialect: "openai", url, model: "", context: 8192, models: [], headers: [], hasKey: false, keyIsForSession: false, default: false, defaultModel: null, countedWith: "estimate", meanError: null, learned: [], ...over });

async function models(local: Model[], endpoints: Endpoint[]) {
	const all = new Models(api(new FakeShell({ list_models: () => local, list_endpoints: () => endpoints })));
	await all.load();
	return all;
}

test("model of the chat has priority over the default", async () => {
	const all = await models([model("small", { default: true }), model("large")], [endpoint("far", "https://far.example/v1")]);
	expect(all.answering(null)).toEqual({ name: "small", host: null, endpoint: false, endpointId: null, readsPictures: false, missing: false });
	expect(all.answering({ kind: "local", id: "large" })?.name).toBe("large");
	expect(all.answering({ kind: "remote", id: "far" })).toEqual({ name: "far", host: "far.example", endpoint: true, endpointId: "far", readsPictures: false, missing: false });
});

test("deleted model falls back to the default", async () => {
	const all = await models([model("small", { default: true })], []);
	expect(all.answering({ kind: "local", id: "gone" })?.name).toBe("small");
});

test("a chosen model without its file stays chosen", async () => {
	const all = await models([model("there"), model("lost", { missing: true, default: true })], []);
	expect(all.answering(null)).toMatchObject({ name: "lost", missing: true });
	expect(all.answering({ kind: "local", id: "lost" })).toMatchObject({ name: "lost", missing: true });
	expect(all.answering({ kind: "local", id: "there" })).toMatchObject({ name: "there", missing: false });
});

test("without a default an existing local file answers", async () => {
	expect((await models([model("lost", { missing: true }), model("there")], [])).answering(null)?.name).toBe("there");
	expect((await models([model("lost", { missing: true })], [endpoint("idle", "https://x.example")])).answering(null)).toBeNull();
});

test("local addresses show no host", () => {
	expect(hostOf("http://127.0.0.1:1234/v1")).toBe("127.0.0.1:1234");
	expect(hostOf("http://localhost:8080/v1")).toBe("localhost:8080");
	expect(hostOf("http://[::1]:8080/v1")).toBe("[::1]:8080");
	expect(hostOf("https://api.example.org/v1")).toBe("api.example.org");
});

const offered = (...names: string[]) => names.map((name) => ({ id: `id-${name}`, name, context: null, typed: false }));

test("endpoint shows the name given by the user", async () => {
	const one = endpoint("home", "http://127.0.0.1:1/v1", { name: "My box", model: "qwen", models: offered("qwen") });
	const many = endpoint("far", "https://far.example/v1", { name: "Router", model: "large", models: offered("large", "small") });
	const all = await models([], [one, many]);
	const named = (id: string) => all.answering({ kind: "remote", id })?.name;
	expect([named("home"), named("id-qwen"), named("far"), named("id-small")]).toEqual(["My box", "My box", "Router · large", "Router · small"]);
	expect(all.same({ kind: "remote", id: "far" }, { kind: "remote", id: "id-large" })).toBe(true);
	expect(all.same({ kind: "remote", id: "far" }, { kind: "remote", id: "id-small" })).toBe(false);
});

test("a default model other than the endpoint's own is named", async () => {
	const far = endpoint("far", "https://far.example/v1", { name: "Router", model: "large", models: offered("large", "small"), default: true, defaultModel: "small" });
	expect((await models([model("file")], [far])).answering(null)?.name).toBe("Router · small");
});

test("models are grouped, the recent ones first", async () => {
	const bare = endpoint("bare", "http://127.0.0.1:1/v1", { name: "Bare" });
	const typed = endpoint("typed", "http://127.0.0.1:2/v1", { name: "Typed", model: "own", models: offered("listed") });
	const all = await models([model("small")], [bare, typed]);
	const groups = all.choices([{ kind: "remote", id: "id-listed" }, { kind: "local", id: "gone" }]);
	expect(groups.map(({ id, models }) => [id, models.map(({ name }) => name)])).toEqual([
		["recent", ["listed"]],
		["local", ["small"]],
		["bare", ["Bare"]],
		["typed", ["own", "listed"]],
	]);
});
