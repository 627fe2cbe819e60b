import type { ImportProgress, ImportReport } from "../api/generated";
import { percent } from "../i18n/format";
import { t } from "../i18n/i18n.svelte";
import type { Api } from "./api";
import { skippedParts } from "./importToasts";

/** Number of progress announcements for screen readers. Announcing each file would be too much. */
const PARTS = 4;

interface Callbacks {
	/** Announces a text to screen readers. */
	announce(text: string): void;
	/** Runs an action and shows an error as a toast. */
	attempt(action: () => Promise<unknown>): Promise<void>;
}

/** State of a folder import. The engine holds the progress, and a reloaded page asks for it. */
export class FolderImport {
	progress = $state.raw<ImportProgress | null>(null);
	/** The report of the finished import, until the user dismisses it. */
	report = $state.raw<ImportReport | null>(null);
	/** Cancellation was requested; the import ends after the current file. */
	cancelling = $state(false);
	/** Progress from 0 to 1; `null` until the total is known. */
	readonly fraction = $derived(this.progress && this.progress.total > 0 ? this.progress.done / this.progress.total : null);
	#announced = 0;

	constructor(
		private readonly api: Api,
		private readonly callbacks: Callbacks,
	) {}

	/** Opens a dialog for a SillyTavern folder. */
	start = (): Promise<void> => this.callbacks.attempt(() => this.api.shell.pickSillytavern());

	cancel = async (): Promise<void> => {
		this.cancelling = true;
		await this.callbacks.attempt(() => this.api.cancelImport());
	};

	/** Loads the current progress, for a page that was opened during the import. */
	async load(): Promise<void> {
		const progress = await this.api.importProgress();
		if (progress) this.update(progress);
		else this.#forget();
	}

	update(progress: ImportProgress): void {
		const begins = this.progress === null;
		this.progress = progress;
		if (begins) {
			[this.report, this.cancelling, this.#announced] = [null, false, 0];
			this.callbacks.announce(t("folder.begins"));
			return;
		}
		const part = Math.floor((this.fraction ?? 0) * PARTS);
		if (part > this.#announced && part < PARTS) this.callbacks.announce(t("folder.heard", { percent: percent(part / PARTS) }));
		this.#announced = Math.max(part, this.#announced);
	}

	/** Handles the end. Without a report the import failed, and the call that started it reports the error. */
	ended(report: ImportReport | null): void {
		this.#forget();
		this.report = report;
		if (report) this.callbacks.announce(summary(report));
	}

	dismiss = (): void => void (this.report = null);

	#forget(): void {
		[this.progress, this.cancelling] = [null, false];
	}
}

/** The result of an import in one line. */
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
