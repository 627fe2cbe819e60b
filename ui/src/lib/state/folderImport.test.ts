import { expect, test, vi } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import type { ImportReport, ImportStage } from "../api/generated";
import { api } from "./api";
import { FolderImport } from "./folderImport.svelte";

const REPORT: ImportReport = { imported: [], skipped: [], refused: [], cancelled: false, choices: [] };

function importing(answers: Record<string, () => unknown> = {}) {
	const announce = vi.fn<(text: string) => void>();
	const attempt = async (action: () => Promise<unknown>) => void (await action());
	const shell = new FakeShell(answers);
	const folder = new FolderImport(api(shell), { announce, attempt });
	const reach = (done: number, stage: ImportStage = "characters") => folder.update({ done, total: 200, stage });
	return { folder, shell, reach, announce, heard: () => announce.mock.calls.map(([text]) => text) };
}

test("announces start, each quarter once, and the end", () => {
	const { folder, reach, heard } = importing();
	folder.update({ done: 0, total: 0, stage: "looking" });
	expect(folder.fraction).toBe(null);
	for (const done of [0, 10, 55, 60, 99, 101, 160, 199, 200]) reach(done);
	folder.ended({ ...REPORT, cancelled: false });
	expect(heard()).toEqual([
		"Importing from SillyTavern",
		"Importing from SillyTavern: 25%",
		"Importing from SillyTavern: 50%",
		"Importing from SillyTavern: 75%",
		"The import from SillyTavern is done. 0 items imported",
	]);
	expect([folder.progress, folder.report]).toEqual([null, REPORT]);
});

test("next import clears the last report", () => {
	const { folder, reach, heard } = importing();
	reach(0);
	reach(150);
	folder.ended(REPORT);
	reach(0);
	expect(folder.report).toBe(null);
	reach(60);
	expect(heard().at(-1)).toBe("Importing from SillyTavern: 25%");
});

test("cancel shows until the import has ended", async () => {
	const { folder, shell, reach } = importing({ cancel_import: () => null });
	reach(10);
	await folder.cancel();
	expect([folder.cancelling, shell.count("cancel_import")]).toEqual([true, 1]);
	folder.ended({ ...REPORT, cancelled: true });
	expect([folder.cancelling, folder.report?.cancelled]).toEqual([false, true]);
});

test("failed import leaves nothing on screen", () => {
	const { folder, reach, heard } = importing();
	reach(10);
	folder.ended(null);
	expect([folder.progress, folder.report, heard().length]).toEqual([null, null, 1]);
});

test("reloaded page asks for the progress", async () => {
	let progress: unknown = { done: 120, total: 200, stage: "chats" };
	const { folder } = importing({ import_progress: () => progress });
	await folder.load();
	expect(folder.fraction).toBe(0.6);
	progress = null;
	await folder.load();
	expect(folder.progress).toBe(null);
});
