import { expect, test } from "vitest";
import type { ApiKey, ApiKeyLimits, LocalApi, SettingsChange } from "../api/generated";
import type { Api } from "./api";
import { LocalApiState } from "./localApi.svelte";

const info: LocalApi = { settings: { enabled: false, port: 8000 }, address: null, fixedPort: false, alwaysOn: false, failure: null };
const key: ApiKey = { id: "k", name: "Lamp", start: "inglenook_abcd", limits: { characters: ["c1", "gone"], rawModels: false, readOnly: true }, created: "", lastUsed: null };

function local() {
	const changes: SettingsChange[] = [];
	const made: [string, ApiKeyLimits][] = [];
	const api = {
		localApi: async () => info,
		listApiKeys: async () => [key],
		listCharacters: async () => [{ id: "c1", name: "Mira" }],
		updateSettings: async (change: SettingsChange) => void changes.push(change),
		createApiKey: async (name: string, limits: ApiKeyLimits) => {
			made.push([name, limits]);
			return { key: { ...key, name }, secret: "inglenook_secret" };
		},
	} as unknown as Api;
	return { state: new LocalApiState(api), changes, made };
}

test("switch keeps the port and the port keeps the switch", async () => {
	const { state, changes } = local();
	await state.load();
	await state.set({ enabled: true });
	expect(state.setPort("8010")).toBe(true);
	expect(changes).toEqual([{ localApi: { enabled: true, port: 8000 } }, { localApi: { enabled: true, port: 8010 } }]);
	expect(state.address).toBe("http://127.0.0.1:8000");
});

test("text that is no port is not saved", async () => {
	const { state, changes } = local();
	await state.load();
	for (const text of ["", "0", "65536", "8000.5", "port"]) expect(state.setPort(text), text).toBe(false);
	expect(changes).toEqual([]);
});

test("new key is made with its limits and shown once", async () => {
	const { state, made } = local();
	await state.load();
	state.create();
	const form = state.form;
	expect(state.ready).toBe(false);
	if (form) form.name = "Lamp";
	expect(state.ready).toBe(true);
	if (form) form.all = false;
	expect(state.ready, "a key for no character is useless").toBe(false);
	if (form) form.chosen = ["c1"];
	await state.save();
	expect(made).toEqual([["Lamp", { characters: ["c1"], rawModels: false, readOnly: false }]]);
	expect([state.form, state.made?.secret]).toEqual([null, "inglenook_secret"]);
	state.seen();
	expect(state.made).toBe(null);
});

test("form shows the limits of the key that is changed", async () => {
	const { state } = local();
	await state.load();
	state.edit(key);
	expect(state.form).toEqual({ id: "k", name: "Lamp", all: false, chosen: ["c1", "gone"], rawModels: false, readOnly: true });
	expect(state.names(key)).toEqual(["Mira"]);
});
