import type { Imported, ImportReport, Skipped } from "../api/generated";
import { t } from "../i18n/i18n.svelte";
import { Debounce } from "./debounce";
import type { Toasts } from "./toasts.svelte";

const LONG_MS = 20_000;
const MOST_LINES = 4;

interface Callbacks {
	/** Opens the imported character or chat. */
	talk(id: string, kind: string): void;
	/** Opens the imported lorebook. */
	openBook(id: string): void;
	/** Shows the whole report. */
	show(report: ImportReport): void;
}

/** Shows a toast for finished imports. Reports that arrive in quick succession share one toast. */
export class ImportToasts {
	#gathered: ImportReport = { imported: [], skipped: [], refused: [], cancelled: false, choices: [] };
	readonly #debounce = new Debounce(250);

	constructor(
		private readonly toasts: Toasts,
		private readonly callbacks: Callbacks,
	) {}

	add({ imported, skipped, refused, choices = [] }: ImportReport): void {
		this.#gathered.imported.push(...imported);
		this.#gathered.skipped.push(...skipped);
		this.#gathered.refused.push(...refused);
		this.#gathered.choices = [...(this.#gathered.choices ?? []), ...choices];
		this.#debounce.run(() => this.#show());
	}

	/** Shows the full result of one file. For several files, it shows counts and a link to the report. */
	#show(): void {
		const report = this.#gathered;
		this.#gathered = { imported: [], skipped: [], refused: [], cancelled: false, choices: [] };
		const { imported, skipped, refused } = report;
		const count = imported.length + skipped.length + refused.length;
		if (count === 0) this.toasts.show({ kind: "news", text: t("toast.nothingToImport") });
		else if (count > 1) this.#many(report);
		else if (imported[0]) this.toasts.show(this.#one(imported[0]));
		else if (skipped[0]) this.toasts.show({ kind: "news", text: t("toast.skipped", about(skipped)), detail: skipped[0].reason });
		else this.toasts.show({ kind: "bad", text: t("toast.refused", about(refused)), detail: refused[0]?.reason ?? "" }, LONG_MS);
	}

	#many(report: ImportReport): void {
		const { imported, skipped, refused } = report;
		const { here, left } = skippedParts(skipped);
		const text = [
			imported.length > 0 ? t("import.done", { count: imported.length }) : "",
			here.length > 0 ? t("import.skippedCount", { count: here.length }) : "",
			left.length > 0 ? t("import.leftCount", { count: left.length }) : "",
			refused.length > 0 ? t("import.refusedCount", { count: refused.length }) : "",
		];
		const detail = lines([...refused.map(({ file, reason }) => `${file}: ${reason}`), ...imported.flatMap(({ warnings }) => warnings)]);
		const action = { label: t("import.show"), run: () => this.callbacks.show(report) };
		this.toasts.show({ kind: refused.length > 0 ? "bad" : "news", text: text.filter(Boolean).join(" · "), detail, action }, LONG_MS);
	}

	#one({ id, kind, name, warnings }: Imported): Parameters<Toasts["show"]>[0] {
		const talk = { label: t("library.talk"), run: () => this.callbacks.talk(id, kind) };
		const open = { label: t("books.open"), run: () => this.callbacks.openBook(id) };
		const actions: Partial<Record<string, typeof talk>> = { character: talk, chat: talk, lorebook: open };
		return { kind: "news", text: t("toast.imported", { name }), detail: lines(warnings), action: actions[kind] };
	}
}

interface FileNote {
	file: string;
	reason: string;
}

function about(files: FileNote[]): { count: number; file: string } {
	return { count: files.length, file: files[0]?.file ?? "" };
}

function lines(all: string[]): string {
	return all.length > MOST_LINES ? [...all.slice(0, MOST_LINES), "…"].join("\n") : all.join("\n");
}

/** Splits skipped files into those already in the library (`here`) and those ignored (`left`). */
export function skippedParts(skipped: Skipped[]): { here: Skipped[]; left: Skipped[] } {
	return { here: skipped.filter(({ id }) => id !== ""), left: skipped.filter(({ id }) => id === "") };
}

/** The report as plain text, for saving or copying. */
export function reportText({ imported, skipped, refused, cancelled }: ImportReport): string {
	const lines = (files: { file: string; reason: string }[]) => files.map(({ file, reason }) => `${file}: ${reason}`);
	const { here, left } = skippedParts(skipped);
	const names = imported.map(({ name, file, warnings }) => [`${file}: ${name}`, ...warnings.map((warning) => `\t${warning}`)].join("\n"));
	const part = (title: string, all: string[]) => (all.length > 0 ? [`${title}\n${all.join("\n")}`] : []);
	return [
		...(cancelled ? [t("import.wasCancelled")] : []),
		...part(t("import.done", { count: imported.length }), names),
		...part(t("import.skippedCount", { count: here.length }), lines(here)),
		...part(t("import.leftCount", { count: left.length }), lines(left)),
		...part(t("import.refusedCount", { count: refused.length }), lines(refused)),
	].join("\n\n");
}
