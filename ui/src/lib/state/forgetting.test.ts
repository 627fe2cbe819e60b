import { expect, test, vi } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import { asApiError } from "../api/errors";
import type { ForgetCounts, ForgetReport, ForgetSubject } from "../api/generated";
import { api } from "./api";
import { Forgetting } from "./forgetting.svelte";

const COUNTS: ForgetCounts = { characters: 1, personas: 0, chats: 2, messages: 30, versions: 34, earlierTexts: 0, memories: 4, summaries: 0, vectors: 30, prompts: 12, documents: 0, drafts: 0, cardVersions: 0, files: 1 };
const PREVIEW = { removed: COUNTS, backups: 3, secondPlaceMissing: false };
const REPORT: ForgetReport = { removed: COUNTS, backups: 3, left: [] };
const MIRA: ForgetSubject = { kind: "character", id: "c1" };

async function asking(answers: Record<string, (args: never) => unknown> = {}) {
	const shell = new FakeShell({ forget_preview: () => PREVIEW, forget: () => REPORT, ...answers });
	const failed = vi.fn();
	const forgotten = vi.fn(async () => {});
	const attempt = (action: () => Promise<unknown>) => action().then(() => {}, (thrown: unknown) => failed(asApiError(thrown).message));
	const forgetting = new Forgetting(api(shell), { attempt, forgotten });
	await forgetting.ask(MIRA, "Mira");
	return { shell, failed, forgotten, forgetting };
}

test.each([true, false])("forgets only after a confirmation, backups: %s", async (backups) => {
	const { shell, forgotten, forgetting } = await asking();
	expect([forgetting.asked, shell.count("forget")]).toEqual([{ subject: MIRA, name: "Mira", preview: PREVIEW }, 0]);
	await forgetting.confirm(backups);
	expect(shell.asked.at(-1)).toEqual({ operation: "forget", args: { subject: MIRA, backups } });
	expect([forgetting.asked, forgetting.report, forgetting.working]).toEqual([null, REPORT, false]);
	expect(forgotten).toHaveBeenCalledOnce();
	forgetting.closeReport();
	expect(forgetting.report).toBeNull();
});

test("cancel removes nothing", async () => {
	const { shell, forgotten, forgetting } = await asking();
	forgetting.cancel();
	await forgetting.confirm(true);
	expect([forgetting.asked, shell.count("forget")]).toEqual([null, 0]);
	expect(forgotten).not.toHaveBeenCalled();
});

test("failed removal stays in the dialog", async () => {
	const refusal = { kind: "busy", message: "A reply does not stop.", hint: "Wait." };
	const { forgotten, forgetting } = await asking({ forget: () => Promise.reject(refusal) });
	await forgetting.confirm(true);
	expect([forgetting.failure, forgetting.report, forgetting.asked?.name]).toEqual([refusal, null, "Mira"]);
	expect(forgotten).not.toHaveBeenCalled();
});

test("removal refused during a backup can be tried again", async () => {
	const refusal = { kind: "busy", message: "A backup is being written.", hint: "Try again when it is finished." };
	const answers = [() => Promise.reject(refusal), () => REPORT];
	const { shell, forgetting } = await asking({ forget: () => answers.shift()?.() });
	await forgetting.confirm(false);
	expect(forgetting.failure).toEqual(refusal);
	await forgetting.confirm(false);
	expect([forgetting.failure, forgetting.report, forgetting.asked, shell.count("forget")]).toEqual([null, REPORT, null, 2]);
});

test("failed count asks nothing", async () => {
	const { failed, forgetting } = await asking({ forget_preview: () => Promise.reject({ kind: "notFound", message: "It is gone." }) });
	expect(failed).toHaveBeenCalledWith("It is gone.");
	expect([forgetting.asked, forgetting.counting]).toEqual([null, false]);
});
