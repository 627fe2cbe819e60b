import type { ApiError, ForgetPreview, ForgetReport, ForgetSubject } from "../api/generated";
import type { Api } from "./api";
import { attempt } from "./attempt";

/** Something to forget, and what would be removed. */
export interface ForgetRequest {
	subject: ForgetSubject;
	/** The name for the title of the dialog. */
	name: string;
	preview: ForgetPreview;
}

interface Callbacks {
	/** Runs an action and shows an error as a toast. */
	attempt(action: () => Promise<unknown>): Promise<void>;
	/** Called after something was forgotten, which cannot be undone. */
	forgotten(): Promise<void>;
}

/** Forgets everything about a character, a persona or a span of days: the question, the work and the report. */
export class Forgetting {
	/** The subject of the question to the user. */
	asked = $state.raw<ForgetRequest | null>(null);
	report = $state.raw<ForgetReport | null>(null);
	failure = $state.raw<ApiError | null>(null);
	working = $state(false);
	/** The numbers for a question are being counted. */
	counting = $state(false);

	constructor(
		private readonly api: Api,
		private readonly callbacks: Callbacks,
	) {}

	/** Counts what would be removed, then asks. */
	async ask(subject: ForgetSubject, name: string): Promise<void> {
		if (this.counting || this.working) return;
		this.counting = true;
		await this.callbacks.attempt(async () => {
			const preview = await this.api.forgetPreview(subject);
			[this.asked, this.failure] = [{ subject, name, preview }, null];
		});
		this.counting = false;
	}

	/** Closes the question. A removal that has begun goes on. */
	cancel = (): void => void (this.asked = null);

	/** Forgets. With `backups`, the backups that contain it are removed too. */
	async confirm(backups: boolean): Promise<void> {
		const { asked } = this;
		if (!asked || this.working) return;
		this.working = true;
		const done = await attempt(this, async () => void (this.report = await this.api.forget(asked.subject, backups)));
		this.working = false;
		// A failure is shown with the question, also if the dialog was closed meanwhile.
		this.asked = done ? null : asked;
		if (done) await this.callbacks.attempt(() => this.callbacks.forgotten());
	}

	closeReport = (): void => void (this.report = null);
}
