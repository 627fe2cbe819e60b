import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ImportReport } from "../api/generated";
import { ImportToasts, reportText } from "./importToasts";
import { Toasts } from "./toasts.svelte";

const imported = (name: string, kind = "character") => ({ kind, id: name, name, file: `${name}.png`, warnings: [] });
const told = (file: string) => ({ id: "known", file, kind: "noCard", reason: "The picture holds no card." });
const report = (over: Partial<ImportReport>): ImportReport => ({ imported: [], skipped: [], refused: [], cancelled: false, choices: [], ...over });

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function news() {
	const toasts = new Toasts();
	const [talk, show] = [vi.fn(), vi.fn()];
	const heard = (...reports: Partial<ImportReport>[]) => {
		const news = new ImportToasts(toasts, { talk, show, openBook: vi.fn() });
		for (const one of reports) news.add(report(one));
		vi.advanceTimersByTime(250);
		return toasts.items.map(({ text, detail, kind }) => [kind, text, detail]);
	};
	return { toasts, talk, show, heard };
}

test("one file shows its result and a link to it", () => {
	const { toasts, talk, heard } = news();
	expect(heard({ imported: [imported("evening", "chat")] })).toEqual([["news", "Imported evening", ""]]);
	toasts.items[0]?.action?.run();
	expect(talk).toHaveBeenCalledWith("evening", "chat");
});

test("files imported in a row show a summary", () => {
	const { toasts, show, heard } = news();
	const lines = heard({ imported: [imported("Mira")] }, { imported: [imported("Osei")] }, { skipped: [told("mira.png")] }, { refused: [told("holiday.png")] });
	expect(lines).toEqual([["bad", "2 items imported · 1 file was already imported · 1 file was not imported", "holiday.png: The picture holds no card."]]);
	toasts.items[0]?.action?.run();
	const [[whole]] = show.mock.calls as [[ImportReport]];
	expect(reportText(whole)).toBe("2 items imported\nMira.png: Mira\nOsei.png: Osei\n\n1 file was already imported\nmira.png: The picture holds no card.\n\n1 file was not imported\nholiday.png: The picture holds no card.");
});

test("ignored files are separate from known files", () => {
	const skipped = [told("mira.png"), { ...told("backgrounds"), id: "", reason: "No place." }];
	const text = reportText(report({ skipped, cancelled: true }));
	expect(text).toBe("The import was cancelled. Files imported so far stay; import again to get the rest.\n\n1 file was already imported\nmira.png: The picture holds no card.\n\n1 file skipped\nbackgrounds: No place.");
});

test("folder without files is reported", () => {
	expect(news().heard({})).toEqual([["news", "Nothing to import", undefined]]);
});
