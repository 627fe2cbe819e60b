import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { block, report } from "../../../../tests/unit/prompts";
import { FakeShell } from "../../../../tests/unit/shell";
import type { ApiError, Mode, RegexScriptRow, ScriptTrial, TemplateDocument, TemplateProblem, WhatIf } from "../../api/generated";
import { api } from "../api";
import { Modes } from "./modes.svelte";
import { previewParts } from "./previewParts";
import { lineAt, sectionRange } from "./sectionRange";
import { fieldsOf, NEW_SCRIPT, withFields } from "./script";
import { Scripts } from "./scripts.svelte";
import { TemplateEditors } from "./templateEditors.svelte";
import { Trial } from "./trial.svelte";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const REFUSED: ApiError = { kind: "badInput", message: "There is no variable character.mood.", hint: "Correct it." };

function stored(id: string, over: Partial<TemplateDocument["summary"]> = {}): TemplateDocument {
	const json = JSON.stringify({ schema: "inglenook.promptTemplate", version: 2, id, name: id.toUpperCase(), sections: [{ name: "rules" }] });
	return { summary: { id, name: id.toUpperCase(), description: "", kind: "roleplay", builtIn: true, changed: false, ...over }, json };
}

function editors(answers: Record<string, (args: never) => unknown> = {}) {
	const failures: ApiError[] = [];
	const shell = new FakeShell({
		get_template: ({ id }: { id: string }) => stored(id),
		check_template: () => [],
		render_template: ({ json }: { json: string }) => ({ text: json, sections: [], tokens: json.length, problems: [] }),
		preview_prompt: ({ whatIf }: { whatIf: WhatIf }) => report([], { template: whatIf.templateJson ?? "" }),
		...answers,
	});
	return { shell, failures, editors: new TemplateEditors(api(shell), (error) => failures.push(error)) };
}

test("draft stays while another template is open", async () => {
	const { editors: all, shell } = editors();
	await all.open("base");
	all.editor?.type("{}");
	await all.open("sms");
	expect(all.editor?.dirty).toBe(false);
	await all.open("base");
	expect([all.editor?.json, all.editor?.dirty]).toEqual(["{}", true]);
	expect(shell.count("get_template")).toBe(2);
});

test("preview updates after a pause in typing", async () => {
	const { editors: all, shell } = editors();
	await all.open("base");
	all.editor?.show("chat");
	await vi.advanceTimersByTimeAsync(300);
	all.editor?.type("{ ");
	all.editor?.type("{}");
	await vi.advanceTimersByTimeAsync(300);
	expect(shell.count("render_template")).toBe(2);
	expect(shell.asked.findLast(({ operation }) => operation === "render_template")?.args).toEqual({ json: "{}", chat: "chat" });
	expect(all.editor?.rendered?.text).toBe("{}");
	expect(shell.asked.at(-1)?.args).toEqual({ chat: "chat", text: "", whatIf: { templateJson: "{}" } });
	expect(all.editor?.prompt?.template).toBe("{}");
});

test("failed prompt keeps the sections and the error", async () => {
	const overflow: ApiError = { kind: "contextOverflow", message: "", hint: "", block: null, missing: 1, needed: 2, available: 1 };
	const { editors: all } = editors({
		preview_prompt: () => {
			throw overflow;
		},
	});
	await all.open("base");
	all.editor?.show("chat");
	await vi.advanceTimersByTimeAsync(300);
	expect([all.editor?.prompt, all.editor?.promptFailure, all.editor?.failure]).toEqual([null, overflow, null]);
	expect(all.editor?.rendered).not.toBeNull();
});

test("utility template has no full prompt", async () => {
	const { editors: all, shell } = editors({ get_template: ({ id }: { id: string }) => stored(id, { kind: "utility" }) });
	await all.open("summary");
	all.editor?.show("chat");
	await vi.advanceTimersByTimeAsync(300);
	expect([shell.count("render_template"), shell.count("preview_prompt")]).toEqual([1, 0]);
});

test("preview names sections and groups messages", () => {
	const blocks = [block("rules 5 Be kind."), block("lore 9 The mill"), block("message 3 One"), block("message 4 Two"), block("memory 2 Tea", { kept: false }), block("message 1 Three"), block("note 6 Rain")];
	const parts = previewParts(blocks, [{ name: "the rules", text: "Be kind.", tokens: 5 }]);
	const told = parts.map((part) => (part.kind === "section" ? `# ${part.section}` : part.kind === "messages" ? `${part.count} messages, ${part.tokens}: ${part.first} … ${part.last}` : part.block.kind));
	expect(told).toEqual(["# the rules", "lore", "3 messages, 8: One … Three", "note"]);
});

test("invalid JSON keeps the last preview", async () => {
	let problems: TemplateProblem[] = [];
	const { editors: all } = editors({ render_template: ({ json }: { json: string }) => ({ text: json, sections: [], tokens: 1, problems }) });
	await all.open("base");
	all.editor?.show("chat");
	await vi.advanceTimersByTimeAsync(300);
	const whole = all.editor?.rendered;
	problems = [{ severity: "error", section: "rules", variable: null, message: "half" }];
	all.editor?.type("{");
	await vi.advanceTimersByTimeAsync(300);
	expect(all.editor?.problems).toEqual(problems);
	expect(all.editor?.rendered).toBe(whole);
});

test("template with a hint has a preview", async () => {
	const hint: TemplateProblem = { severity: "warning", section: "rules", variable: null, message: "in vain" };
	const { editors: all } = editors({ render_template: ({ json }: { json: string }) => ({ text: json, sections: [], tokens: 1, problems: [hint] }) });
	await all.open("base");
	all.editor?.show("chat");
	await vi.advanceTimersByTimeAsync(300);
	expect([all.editor?.problems, all.editor?.shownProblems]).toEqual([[hint], []]);
	all.editor?.type("{} ");
	expect(all.editor?.shownProblems).toEqual([hint]);
	expect(all.editor?.broken).toBe(false);
	expect(all.editor?.rendered).not.toBe(null);
});

test("rejected template keeps its text and the error", async () => {
	const { editors: all } = editors({
		save_template: () => {
			throw REFUSED;
		},
	});
	await all.open("base");
	all.editor?.type("{}");
	expect(await all.save()).toBe(false);
	expect([all.editor?.failure, all.editor?.json]).toEqual([REFUSED, "{}"]);
});

test("new template gets its id when saved", async () => {
	const { editors: all, shell } = editors({ save_template: ({ json }: { json: string }) => ({ ...stored("mine", { builtIn: false }), json }) });
	await all.create("base", "Mine");
	expect(JSON.parse(all.editor?.json ?? "")).toMatchObject({ schema: "inglenook.promptTemplate", version: 2, name: "Mine", extends: "base", sections: [] });
	expect(all.editor?.dirty).toBe(true);
	expect(await all.save()).toBe(true);
	expect(shell.asked.find(({ operation }) => operation === "save_template")?.args.id).toBe("");
	expect([all.current, all.editor?.dirty]).toEqual(["mine", false]);
	await all.duplicate("base", "Base again");
	expect(JSON.parse(all.editor?.json ?? "")).toMatchObject({ id: "base-copy", name: "Base again", sections: [{ name: "rules" }] });
});

test("undo restores a deleted or reset template", async () => {
	const { editors: all, shell } = editors({ delete_template: () => null, save_template: () => stored("mine") });
	await all.open("mine");
	const undo = await all.remove(stored("mine", { builtIn: false }).summary);
	expect(all.editor).toBeNull();
	await undo?.();
	expect(shell.asked.find(({ operation }) => operation === "save_template")?.args).toEqual({ id: "mine", json: stored("mine").json });
	expect(all.current).toBe("mine");
});

test("section is found by its own name", () => {
	const json = '{\n  "name": "rules",\n  "sections": [\n    { "name" : "rules", "lines": [] },\n    { "name": "a.b" }\n  ]\n}';
	const found = sectionRange(json, "rules");
	expect(json.slice(...(found ?? [0, 0]))).toBe('"name" : "rules"');
	expect(lineAt(json, found?.[0] ?? 0)).toBe(3);
	expect(sectionRange(json, "a.b")).not.toBeNull();
	expect(sectionRange(json, "axb")).toBeNull();
});

test("form keeps values that it does not show", () => {
	const json = JSON.stringify({ id: "r", scriptName: "Tidy", findRegex: "/a/g", replaceString: "b", trimStrings: ["*"], placement: [2, 3], markdownOnly: false, promptOnly: true, substituteRegex: 1, minDepth: null, maxDepth: 4, custom: true });
	const fields = fieldsOf(json);
	expect(fields).toEqual({ name: "Tidy", find: "/a/g", replace: "b", trim: "*", places: ["reply"], effect: "sent", onEdit: false, minDepth: null, maxDepth: 4 });
	const written = JSON.parse(withFields(json, { ...fields, places: ["user", "reply"], effect: "shownAndSent", trim: "*\n_\n" })) as object;
	expect(written).toMatchObject({ id: "r", placement: [1, 2, 3], markdownOnly: true, promptOnly: true, trimStrings: ["*", "_"], substituteRegex: 1, custom: true });
	expect(fieldsOf(NEW_SCRIPT)).toMatchObject({ places: ["reply"], effect: "shown" });
});

test("script is saved, disabled, deleted and restored", async () => {
	let rows: RegexScriptRow[] = [];
	const shell = new FakeShell({
		list_regex_scripts: () => rows,
		save_regex_script: ({ script }: { script: RegexScriptRow }) => {
			const saved = { ...script, id: script.id || "r1" };
			rows = [saved];
			return saved;
		},
		delete_regex_script: () => void (rows = []),
	});
	const scripts = new Scripts(api(shell));
	await scripts.load();
	scripts.create();
	if (scripts.fields) Object.assign(scripts.fields, { name: "Tidy", find: "/a/g" });
	expect(await scripts.save()).toBe(true);
	expect([scripts.row?.id, scripts.row?.name, scripts.dirty]).toEqual(["r1", "Tidy", false]);
	const [row] = rows;
	if (!row) throw new Error("it was saved");
	await scripts.switch(row, false);
	expect(JSON.parse(scripts.all[0]?.json ?? "")).toMatchObject({ disabled: true, findRegex: "/a/g" });
	await scripts.remove(row);
	expect([scripts.all, scripts.row]).toEqual([[], null]);
	await scripts.restore(row);
	expect(scripts.all).toHaveLength(1);
});

test("scripts move, but not beyond the ends", async () => {
	let rows: RegexScriptRow[] = ["a", "b", "c"].map((id) => ({ id, name: id, json: NEW_SCRIPT, enabled: true, problem: null }));
	const shell = new FakeShell({
		list_regex_scripts: () => rows,
		order_regex_scripts: ({ ids }: { ids: string[] }) => (rows = ids.flatMap((id) => rows.filter((row) => row.id === id))),
	});
	const scripts = new Scripts(api(shell));
	await scripts.load();
	const order = () => scripts.all.map(({ id }) => id).join("");
	const [a] = rows;
	if (!a) throw new Error("there are three");
	await scripts.move(a, 1);
	expect(order()).toBe("bac");
	await scripts.move(a, 1);
	await scripts.move(a, 1);
	expect([order(), shell.count("order_regex_scripts")]).toEqual(["bca", 2]);
	await scripts.move(a, -1);
	expect(order()).toBe("bac");
});

test("script runs after a pause, and the latest wins", async () => {
	const answers: ((trial: ScriptTrial) => void)[] = [];
	const shell = new FakeShell({ try_regex_script: () => new Promise<ScriptTrial>((answer) => answers.push(answer)) });
	const trial = new Trial(api(shell), () => "chat");
	const made = (text: string): ScriptTrial => ({ text, hits: 1, problem: null, overrun: false });
	trial.show("{1}", "fog");
	trial.show("{2}", "fog");
	await vi.advanceTimersByTimeAsync(200);
	trial.show("{2}", "fog!");
	await vi.advanceTimersByTimeAsync(200);
	expect(shell.asked.map(({ args }) => args)).toEqual([
		{ script: "{2}", sample: "fog", chat: "chat" },
		{ script: "{2}", sample: "fog!", chat: "chat" },
	]);
	answers[1]?.(made("mist!"));
	answers[0]?.(made("mist"));
	await vi.advanceTimersByTimeAsync(0);
	expect(trial.result?.text).toBe("mist!");
	trial.show("{2}", "");
	expect(trial.result).toBeNull();
});

test("mode is saved, rejected, and reset with undo", async () => {
	const original: Mode = { name: "study", text: "Explain.", builtIn: true, changed: false };
	let modes = [original];
	const shell = new FakeShell({
		list_modes: () => modes,
		save_mode: ({ mode }: { mode: Mode }) => {
			if (mode.name.includes(" ")) throw REFUSED;
			const saved = { ...mode, builtIn: mode.name === "study", changed: mode.name === "study" };
			modes = [...modes.filter(({ name }) => name !== mode.name), saved];
			return saved;
		},
		delete_mode: () => void (modes = [original]),
	});
	const state = new Modes(api(shell));
	await state.load();
	state.open("study");
	expect(state.dirty).toBe(false);
	if (state.editing) state.editing.text = "Explain slowly.";
	expect(state.dirty).toBe(true);
	await state.save();
	expect([state.dirty, state.editing?.was?.changed]).toEqual([false, true]);
	const before = await state.remove(state.all[0] as Mode);
	expect(state.editing?.text).toBe("Explain.");
	await state.restore(before as Mode);
	expect(state.editing?.text).toBe("Explain slowly.");
	state.create();
	if (state.editing) state.editing.name = "two words";
	expect(await state.save()).toBe(false);
	expect([state.failure, state.editing?.name]).toEqual([REFUSED, "two words"]);
});
