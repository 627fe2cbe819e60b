import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import { api } from "./api";
import { Editor } from "./editor.svelte";

const saved = (fields: object) => ({ id: "j", picture: null, spec: "chara_card_v3", fields, sources: [], created: "", updated: "" });
/** A tokenizer that counts each character as one token. */
const letters = ({ texts }: { texts: string[] }) => ({ tokens: texts.map((text) => text.length), model: "Letters", exact: true });

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test("rejected save stays unsaved", async () => {
	const shell = new FakeShell({
		create_character: () => {
			throw { kind: "badInput", message: "A character needs a name.", hint: "" };
		},
	});
	const editor = new Editor(api(shell), null);
	expect(editor.dirty).toBe(false);
	editor.fields.name = "Juniper";
	editor.addGreeting();
	expect(editor.dirty).toBe(true);
	expect(await editor.save()).toBe(false);
	expect(editor.failure?.kind).toBe("badInput");
	shell.answers.create_character = ({ fields }: { fields: object }) => saved(fields);
	expect(await editor.save()).toBe(true);
	expect([editor.id, editor.dirty]).toEqual(["j", false]);
});

test("undo covers every change, and saving adds no step", async () => {
	const shell = new FakeShell({ create_character: ({ fields }: { fields: object }) => saved(fields), count_fields: letters });
	const editor = new Editor(api(shell), null);
	const typed = (edit: () => void) => {
		edit();
		editor.noted();
		vi.advanceTimersByTime(1_000);
	};
	typed(() => (editor.fields.name = "Juniper"));
	typed(() => editor.addGreeting());
	typed(() => (editor.fields.depthPrompt.depth = 2));
	await editor.save();
	editor.noted();
	editor.undo();
	expect(editor.fields.depthPrompt.depth).toBe(4);
	editor.undo();
	expect(editor.fields.alternateGreetings).toEqual([]);
	expect(editor.dirty).toBe(true);
	editor.redo();
	editor.redo();
	expect([editor.fields.depthPrompt.depth, editor.dirty, editor.history.canRedo]).toEqual([2, false, false]);
});

test("counts tokens per text and for all prompts", async () => {
	const shell = new FakeShell({ count_fields: letters });
	const editor = new Editor(api(shell), null);
	Object.assign(editor.fields, { name: "Mira", description: "lamps", scenario: "rain", firstMessage: "Hello.", alternateGreetings: ["", "Hi."] });
	editor.fields.depthPrompt.text = "dry";
	editor.noted();
	editor.noted();
	await vi.runAllTimersAsync();
	const { counts } = editor;
	expect([counts.of("firstMessage"), counts.of("alternateGreetings.1"), counts.of("depthPrompt")]).toEqual([6, 3, 3]);
	expect([counts.always, counts.by, shell.count("count_fields")]).toEqual([12, { model: "Letters", exact: true }, 1]);
	shell.answers.count_fields = () => {
		throw { kind: "provider", message: "no" };
	};
	await counts.count(editor.fields);
	expect([counts.of("firstMessage"), counts.by]).toEqual([null, null]);
});
