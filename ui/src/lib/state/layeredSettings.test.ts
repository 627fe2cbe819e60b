import { expect, test, vi } from "vitest";
import list from "../../../tests/mock/settings.json";
import { FakeShell } from "../../../tests/unit/shell";
import type { ApiError, LayeredSetting, LayeredSettings, SettingLayer, SettingValue } from "../api/generated";
import en from "../i18n/en.json";
import { about, label, options, origin, shown } from "../i18n/settingTexts";
import { api } from "./api";
import { groupOf, GROUPS, LayeredSettingsState } from "./layeredSettings.svelte";

const SETTINGS = list as LayeredSetting[];

/** The default settings with one of them set. */
function withOne(key: string, layer: SettingLayer, value: SettingValue): LayeredSettings {
	const settings = SETTINGS.map((setting) => (setting.key === key ? { ...setting, value, origin: layer, layers: [{ layer, value, problem: null }] } : setting));
	return { settings, contradictions: [], model: null, character: null };
}

function started(answers: Record<string, (args: never) => unknown>) {
	const shell = new FakeShell({ layered_settings: () => withOne("mode", "character", "chill"), ...answers });
	const failed = vi.fn<(error: ApiError) => void>();
	return { shell, failed, layered: new LayeredSettingsState(api(shell), { scope: "chat", id: "c" }, failed) };
}

const find = (layered: LayeredSettingsState, key: string) => layered.all?.settings.find((setting) => setting.key === key) as LayeredSetting;

test("value of another layer shows its origin", async () => {
	const { layered } = started({});
	await layered.load();
	const mode = find(layered, "mode");
	expect([mode.value, mode.origin, layered.isOwn(mode)]).toEqual(["chill", "character", false]);
});

test("change sends one field and shows the answer", async () => {
	const { layered, shell } = started({ set_setting: () => withOne("mode", "chat", "study") });
	await layered.load();
	await layered.set("mode", "study");
	expect(shell.asked.at(-1)).toEqual({ operation: "set_setting", args: { owner: { scope: "chat", id: "c" }, key: "mode", value: "study" } });
	expect(layered.isOwn(find(layered, "mode"))).toBe(true);
	await layered.set("mode", null);
	expect(shell.asked.at(-1)?.args.value).toBeNull();
});

test("rejected change shows the stored value again", async () => {
	const refusal: ApiError = { kind: "badInput", message: "history cap cannot be so.", hint: "Lower one of them." };
	const { layered, failed, shell } = started({
		set_setting: () => {
			throw refusal;
		},
	});
	await layered.load();
	await layered.set("history_cap", 9_000_000);
	expect(failed).toHaveBeenCalledWith(refusal);
	expect(shell.count("layered_settings")).toBe(2);
	expect(find(layered, "history_cap").value).toBe("auto");
});

test("load older than a change is ignored", async () => {
	let answer: (all: LayeredSettings) => void = () => {};
	const { layered } = started({
		layered_settings: () => new Promise<LayeredSettings>((resolve) => (answer = resolve)),
		set_setting: () => withOne("mode", "chat", "study"),
	});
	const loading = layered.load();
	await layered.set("mode", "study");
	answer(withOne("mode", "character", "chill"));
	await loading;
	expect(find(layered, "mode").value).toBe("study");
});

test("chat shows only its settings, each in a group", async () => {
	const { layered } = started({});
	await layered.load();
	const keys = GROUPS.flatMap((group) => layered.shown(group).map(({ key }) => key));
	expect(keys).toContain("author_note");
	expect(keys).not.toContain("start_mode");
	expect([...new Set(SETTINGS.map(groupOf))].sort()).toEqual([...GROUPS].sort());
});

test("environment variable fixes a setting", async () => {
	const { layered } = started({ layered_settings: () => withOne("context_limit", "environment", 4096) });
	await layered.load();
	const limit = find(layered, "context_limit");
	expect([layered.isFixed(limit), layered.isOwn(limit)]).toEqual([true, false]);
});

test("every setting and value has a text", () => {
	for (const setting of SETTINGS) {
		expect(en, setting.key).toHaveProperty([`setting.${setting.key}`]);
		expect(en, setting.key).toHaveProperty([`setting.${setting.key}.about`]);
		const words = [label(setting), about(setting), origin(setting.origin), shown(setting, setting.default), ...options(setting).map((one) => one.label)];
		for (const word of words) expect(word, setting.key).not.toMatch(/^$|setting\./);
	}
});

test("values are formatted for people", () => {
	const say = (key: string, value: SettingValue) => shown(SETTINGS.find((setting) => setting.key === key) as LayeredSetting, value);
	expect(say("history_cap", 3000)).toBe("3,000 tokens");
	expect(say("author_note_every_messages", 1)).toBe("1 message");
	expect(say("history_cap", "auto")).toBe("automatic");
	expect(say("message_ceiling", "off")).toBe("off");
	expect(say("temperature", 0.8)).toBe("0.8");
	expect(say("show_streaming", true)).toBe("on");
	expect(say("reminder", "")).toBe("empty");
	expect(say("mode", "study")).toBe("Study");
});

test("deleted option is still shown", () => {
	const template = SETTINGS.find(({ key }) => key === "template") as LayeredSetting;
	expect(options({ ...template, value: "my-old-one" }).map(({ value }) => value)).toContain("my-old-one");
});
