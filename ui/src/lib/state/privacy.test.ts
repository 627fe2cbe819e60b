import { expect, test, vi } from "vitest";
import list from "../../../tests/mock/settings.json";
import { FakeShell } from "../../../tests/unit/shell";
import type { LayeredSetting, PrivacySpace, SettingValue } from "../api/generated";
import { api } from "./api";
import { PrivacyState } from "./privacy.svelte";

const FULL: PrivacySpace = { prompts: 12, promptBytes: 480_000, logBytes: 9_000 };
const NOTHING: PrivacySpace = { prompts: 0, promptBytes: 0, logBytes: 0 };

/** An engine that keeps prompts and a log until they are switched off. */
async function started(answers: Record<string, (args: never) => unknown> = {}) {
	let kept: SettingValue = "on";
	const all = () => ({ settings: (list as LayeredSetting[]).map((setting) => (setting.key === "keep_prompts" ? { ...setting, value: kept } : setting)), contradictions: [], model: null, character: null });
	const shell = new FakeShell({
		layered_settings: all,
		set_setting: ({ key, value }: { key: string; value: SettingValue | null }) => {
			if (key === "keep_prompts") kept = value ?? "on";
			return all();
		},
		privacy_space: () => (kept === "off" ? NOTHING : FULL),
		...answers,
	});
	const failed = vi.fn();
	const privacy = new PrivacyState(api(shell), failed);
	privacy.follow(0);
	await vi.waitFor(() => expect(privacy.all !== null && (privacy.space ?? privacy.spaceFailure) !== null).toBe(true));
	return { shell, failed, privacy };
}

test("prompts are deleted only after a confirmation", async () => {
	const { shell, privacy } = await started();
	expect(privacy.space).toEqual(FULL);
	await privacy.set("keep_prompts", "off");
	expect([privacy.asked, shell.count("set_setting"), privacy.value("keep_prompts")]).toEqual(["off", 0, "on"]);
	privacy.cancel();
	expect([privacy.asked, shell.count("set_setting")]).toEqual([null, 0]);

	await privacy.set("keep_prompts", "off");
	// The dialog closes before it confirms.
	privacy.cancel();
	await privacy.confirm();
	expect(shell.asked.find(({ operation }) => operation === "set_setting")?.args).toEqual({ owner: { scope: "global" }, key: "keep_prompts", value: "off" });
	expect([privacy.asked, privacy.working, privacy.value("keep_prompts"), privacy.space]).toEqual([null, false, "off", NOTHING]);
});

test("choices that delete nothing apply at once", async () => {
	const { shell, privacy } = await started();
	await privacy.set("write_log", false);
	expect([privacy.asked, shell.count("set_setting")]).toEqual([null, 1]);
	await privacy.set("keep_prompts", "30-days");
	expect(privacy.asked).toBe("30-days");
	await privacy.confirm();
	await privacy.set("keep_prompts", "on");
	await privacy.set("keep_prompts", null);
	expect([privacy.asked, shell.count("set_setting")]).toEqual([null, 4]);
});

test("failed deletion is reported, and the space is read again", async () => {
	const refusal = { kind: "storage", message: "The disk is full.", hint: "Free some space." };
	const { shell, failed, privacy } = await started({ set_setting: () => Promise.reject(refusal) });
	const measured = shell.count("privacy_space");
	await privacy.set("keep_prompts", "off");
	await privacy.confirm();
	expect(failed).toHaveBeenCalledWith(refusal);
	expect([privacy.working, shell.count("privacy_space")]).toEqual([false, measured + 1]);
});

test("settings work without the space", async () => {
	const refusal = { kind: "internal", message: "broken" };
	const { privacy } = await started({ privacy_space: () => Promise.reject(refusal) });
	expect([privacy.space, privacy.spaceFailure, privacy.failure]).toEqual([null, refusal, null]);
	expect(privacy.value("write_log")).toBe(true);
});
