import { expect, test } from "vitest";
import { FakeShell } from "../../../../tests/unit/shell";
import list from "../../../../tests/mock/settings.json";
import type { ChatFormat, SamplerPreset } from "../../api/generated";
import { api } from "../api";
import { Formats } from "./formats.svelte";
import { Samplers } from "./samplers.svelte";

test("a sampler preset holds what is switched on, and no more", async () => {
	let stored: SamplerPreset[] = [{ id: "calm", name: "Calm", values: { temperature: 0.4 } }];
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
	const keys = samplers.settings.map(({ key }) => key);
	expect(keys).toContain("context_limit");
	expect(keys).toContain("dry_multiplier");
	expect(keys).not.toContain("sampler_preset");

	samplers.open("calm");
	expect(samplers.dirty).toBe(false);
	samplers.set("min_p", 0.1);
	samplers.set("temperature", null);
	expect(samplers.dirty).toBe(true);
	await samplers.save();
	expect(stored).toEqual([{ id: "calm", name: "Calm", values: { min_p: 0.1 } }]);

	samplers.duplicate("Calmer");
	await samplers.save();
	expect(stored.map(({ name }) => name)).toEqual(["Calm", "Calmer"]);
	await samplers.remove(stored[0] as SamplerPreset);
	expect(samplers.all.map(({ name }) => name)).toEqual(["Calmer"]);
});

test("a chat format is changed by its lines, and one that ships by a copy", async () => {
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
	expect([formats.editing?.stop, formats.dirty]).toEqual(["<|im_end|>\n\\nYou:", false]);
	formats.duplicate("Mine");
	if (formats.editing) formats.editing.stop += "\n\nC:\\\\end";
	await formats.save();
	expect(stored[0]).toEqual({ id: "own", name: "Mine", jinja: "{{ x }}", stop: ["<|im_end|>", "\nYou:", "C:\\end"], builtIn: false });
	const undo = await formats.remove(stored[0] as ChatFormat);
	expect(formats.all).toEqual([ships]);
	await undo?.();
	expect(formats.all.map(({ name }) => name)).toEqual(["Mine", "ChatML"]);
});
