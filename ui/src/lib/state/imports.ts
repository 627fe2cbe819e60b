import type { ImportReport } from "../api/generated";
import { t } from "../i18n/i18n.svelte";
import type { Toasts } from "./toasts.svelte";

const PAUSE_MS = 250;
const MOST_LINES = 8;

/** Tells of imports; of many files that come one after the other it tells once. */
export class ImportNews {
	#gathered: ImportReport = { imported: [], skipped: [], refused: [] };
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(
		private readonly toasts: Toasts,
		private readonly talk: (character: string) => void,
	) {}

	heard({ imported, skipped, refused }: ImportReport): void {
		this.#gathered.imported.push(...imported);
		this.#gathered.skipped.push(...skipped);
		this.#gathered.refused.push(...refused);
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => this.#tell(), PAUSE_MS);
	}

	#tell(): void {
		const { imported, skipped, refused } = this.#gathered;
		this.#gathered = { imported: [], skipped: [], refused: [] };
		const [first] = imported;
		if (first) {
			const text = imported.length === 1 ? t("toast.imported", { name: first.name }) : t("toast.importedMany", { count: imported.length });
			const talk = { label: t("library.talk"), run: () => this.talk(first.id) };
			const single = imported.length === 1 && first.kind === "character";
			this.toasts.show({ kind: "news", text, detail: lines(imported.flatMap((one) => one.warnings)), action: single ? talk : undefined });
		}
		if (skipped.length > 0) this.toasts.show({ kind: "news", text: t("toast.skipped", about(skipped)), detail: lines(reasons(skipped)) });
		if (refused.length > 0) this.toasts.show({ kind: "bad", text: t("toast.refused", about(refused)), detail: lines(reasons(refused)) }, 20_000);
	}
}

interface Told {
	file: string;
	reason: string;
}

function about(files: Told[]): { count: number; file: string } {
	return { count: files.length, file: files[0]?.file ?? "" };
}

function reasons(files: Told[]): string[] {
	return files.length === 1 ? files.map(({ reason }) => reason) : files.map(({ file, reason }) => `${file}: ${reason}`);
}

function lines(all: string[]): string {
	return all.length > MOST_LINES ? [...all.slice(0, MOST_LINES), "…"].join("\n") : all.join("\n");
}
