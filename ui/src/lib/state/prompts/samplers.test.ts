import { expect, test } from "vitest";
import { FakeShell } from "../../../../tests/unit/shell";
import list from "../../../../tests/mock/settings.json";
import { inactive, shown, silent } from "../../i18n/settingTexts";
import type { ChatFormat, LayeredSetting, SamplerPreset, SettingValue } from "../../api/generated";
import { api } from "../api";
import { Formats } from "./formats.svelte";
import { Samplers } from "./samplers.svelte";

test("preset contains only the enabled values", async () => {
	let stored: SamplerPreset[] = [{ id: "calm", name: "Calm", builtIn: false, values: { temperature: 0.4 } }];
	const shell = new FakeShell({
		list_sampler_presets: () => stored,
		layered_settings: () => ({ settings: list, contradictions: [], model: null, character: null }),
		save_sampler_preset: ({ preset }: { preset: SamplerPreset }) => {
			const saved = { ...preset, id: preset.id || "copy" };
			stored = [...stored.filter(({ id }) => id !== saved.id), saved];
			return saved;
		},
		delete_sampler_preset: ({ id }: { id: string }) => void (stored = stored.filter((one) => one.id !== id)),
	});
	const samplers = new Samplers(api(shell));
	await samplers.load();
	await samplers.loadSettings();
	const keys = samplers.settings.map(({ key }) => key);
	expect(keys).toContain("dry_multiplier");
	for (const other of ["sampler_preset", "context_limit"]) expect(keys).not.toContain(other);

	samplers.open("calm");
	expect(samplers.dirty).toBe(false);
	samplers.set("min_p", 0.1);
	samplers.set("temperature", null);
	expect(samplers.dirty).toBe(true);
	await samplers.save();
	expect(stored).toEqual([{ id: "calm", name: "Calm", builtIn: false, values: { min_p: 0.1 } }]);

	samplers.duplicate("Calmer");
	await samplers.save();
	expect(stored.map(({ name }) => name)).toEqual(["Calm", "Calmer"]);
	await samplers.remove(stored[0] as SamplerPreset);
	expect(samplers.all.map(({ name }) => name)).toEqual(["Calmer"]);
});

test("draft of a preset stays until saved or discarded", async () => {
	let stored: SamplerPreset[] = [
		{ id: "calm", name: "Calm", builtIn: false, values: { temperature: 0.4 } },
		{ id: "wild", name: "Wild", builtIn: false, values: { temperature: 1.6 } },
	];
	const shell = new FakeShell({ list_sampler_presets: () => stored });
	const samplers = new Samplers(api(shell));
	await samplers.load();
	samplers.open("calm");
	samplers.set("temperature", 0.2);
	samplers.open("wild");
	expect([samplers.dirty, samplers.isDirty("calm")]).toEqual([false, true]);
	stored = stored.map((preset) => ({ ...preset, values: { temperature: 1 } }));
	await samplers.load();
	expect(samplers.editing?.fields.values).toEqual({ temperature: 1 });
	samplers.open("calm");
	expect([samplers.dirty, samplers.editing?.fields.values]).toEqual([true, { temperature: 0.2 }]);
	samplers.discard();
	expect([samplers.dirty, samplers.editing?.fields.values]).toEqual([false, { temperature: 1 }]);

	samplers.create({ name: "Mine", values: {} });
	samplers.open("wild");
	expect(samplers.fresh.map(({ name }) => name)).toEqual(["Mine"]);
	samplers.open(samplers.fresh[0]?.id ?? "");
	samplers.discard();
	expect([samplers.fresh, samplers.editing]).toEqual([[], null]);
});

test("setting names the value that disables it", () => {
	const of = (key: string) => (list as LayeredSetting[]).find((setting) => setting.key === key) as LayeredSetting;
	const beside = (values: Record<string, SettingValue>) => ["top_k", "dry_multiplier"].map((key) => silent(of(key), (other) => values[other]));
	expect(beside({ temperature: 0.8, mirostat: 0 })).toEqual(["", ""]);
	expect(beside({ temperature: 0.8, mirostat: 2 })).toEqual(["Has no effect while Mirostat is on.", ""]);
	expect(beside({ temperature: 0 })).toEqual(["Has no effect while Temperature is 0.", ""]);
	expect(beside({})).toEqual(["", ""]);
});

test("built-in chat format is changed in a copy", async () => {
	const ships: ChatFormat = { id: "chatml", name: "ChatML", jinja: "{{ x }}", stop: ["<|im_end|>", "\nYou:"], builtIn: true };
	let stored: ChatFormat[] = [ships];
	const shell = new FakeShell({
		list_chat_formats: () => stored,
		save_chat_format: ({ format }: { format: ChatFormat }) => {
			const saved = { ...format, id: format.id || "own" };
			stored = [saved, ...stored.filter(({ id }) => id !== saved.id)];
			return saved;
		},
		delete_chat_format: ({ id }: { id: string }) => void (stored = stored.filter((one) => one.id !== id)),
	});
	const formats = new Formats(api(shell));
	await formats.load();
	formats.open("chatml");
	expect([formats.editing?.fields.stop, formats.dirty]).toEqual(["<|im_end|>\n\\nYou:", false]);
	formats.duplicate("Mine");
	formats.change({ stop: `${formats.editing?.fields.stop}\n\nC:\\\\end` });
	await formats.save();
	expect(stored[0]).toEqual({ id: "own", name: "Mine", jinja: "{{ x }}", stop: ["<|im_end|>", "\nYou:", "C:\\end"], builtIn: false });
	const removed = stored[0] as ChatFormat;
	await formats.remove(removed);
	expect(formats.all).toEqual([ships]);
	await formats.restore(removed);
	expect(formats.all.map(({ name }) => name)).toEqual(["Mine", "ChatML"]);
});

test("setting names why the model in use lacks it, and its order", () => {
	const of = (key: string) => (list as LayeredSetting[]).find((setting) => setting.key === key) as LayeredSetting;
	const order = of("sampler_order");
	expect(inactive(order)).toBe("");
	expect(inactive({ ...order, inactive: "localOnly" })).toContain("only with local models");
	expect(shown(order, "temperature, dry")).toBe("Temperature, DRY");
});
