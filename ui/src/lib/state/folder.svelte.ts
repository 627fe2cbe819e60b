import type { ImportProgress, ImportReport } from "../api/generated";
import { percent } from "../i18n/format";
import { t } from "../i18n/i18n.svelte";
import type { Api } from "./api";
import { skippedParts } from "./imports";

/** A screen reader hears of so many parts of the way, and not of each file. */
const PARTS = 4;

interface Ways {
	/** Says something to a screen reader. */
	announce(text: string): void;
	/** Runs an action; what goes wrong is told at the window's edge. */
	attempt(action: () => Promise<unknown>): Promise<void>;
}

/** The import of a whole folder: how far it is, and what came of it. The engine has the truth; a reloaded page asks. */
export class FolderImport {
	progress = $state.raw<ImportProgress | null>(null);
	/** The last one is through, and the user has not put it away. */
	report = $state.raw<ImportReport | null>(null);
	/** It was told to end, and ends after what it is at. */
	cancelling = $state(false);
	/** 0 to 1; nothing until it is known. */
	readonly fraction = $derived(this.progress && this.progress.total > 0 ? this.progress.done / this.progress.total : null);
	#announced = 0;

	constructor(
		private readonly api: Api,
		private readonly ways: Ways,
	) {}

	/** Lets the user choose a folder of SillyTavern's. */
	start = (): Promise<void> => this.ways.attempt(() => this.api.shell.pickSillytavern());

	cancel = async (): Promise<void> => {
		this.cancelling = true;
		await this.ways.attempt(() => this.api.cancelImport());
	};

	/** As it is right now, for a page that did not hear how it began. */
	async load(): Promise<void> {
		const progress = await this.api.importProgress();
		if (progress) this.moved(progress);
		else this.#forget();
	}

	moved(progress: ImportProgress): void {
		const begins = this.progress === null;
		this.progress = progress;
		if (begins) {
			[this.report, this.cancelling, this.#announced] = [null, false, 0];
			this.ways.announce(t("folder.begins"));
			return;
		}
		const part = Math.floor((this.fraction ?? 0) * PARTS);
		if (part > this.#announced && part < PARTS) this.ways.announce(t("folder.heard", { percent: percent(part / PARTS) }));
		this.#announced = Math.max(part, this.#announced);
	}

	/** Without a report it failed, which whoever began it is told. */
	ended(report: ImportReport | null): void {
		this.#forget();
		this.report = report;
		if (report) this.ways.announce(summary(report));
	}

	putAway = (): void => void (this.report = null);

	#forget(): void {
		[this.progress, this.cancelling] = [null, false];
	}
}

/** What came of it, in a line. */
export function summary({ imported, skipped, refused, cancelled }: ImportReport): string {
	const { here, left } = skippedParts(skipped);
	const parts = [
		t("import.done", { count: imported.length }),
		...(here.length > 0 ? [t("import.skippedCount", { count: here.length })] : []),
		...(left.length > 0 ? [t("import.leftCount", { count: left.length })] : []),
		...(refused.length > 0 ? [t("import.refusedCount", { count: refused.length })] : []),
	];
	return `${t(cancelled ? "folder.cancelled" : "folder.ended")} ${parts.join(" · ")}`;
}
