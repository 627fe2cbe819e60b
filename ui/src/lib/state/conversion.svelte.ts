import type { Access, ProtectionReport } from "../api/access";
import type { ApiError } from "../api/generated";
import type { Api } from "./api";
import { attempt } from "./attempt";
import { passphraseFault } from "./passphrase";

/**
 * A step of the dialog.
 *
 * - `about`, `passphrase`, `code`, `check`: before anything changes. Decrypting has only `passphrase` of them.
 * - `working`: the engine is closed, and the files are converted.
 * - `report`: the files are converted. Only a restart goes on.
 * - `failed`: the conversion failed after the engine was closed. Only a reload of the page goes on.
 */
export type ConversionStep = "about" | "passphrase" | "code" | "check" | "working" | "report" | "failed";

/** Encrypts or decrypts the data folder, step by step. Everything that was typed is dropped when the dialog closes. */
export class Conversion {
	step = $state<ConversionStep>("about");
	passphrase = $state("");
	repeated = $state("");
	/** The recovery code as it was made. */
	code = $state("");
	/** The recovery code as the user types it back. */
	typed = $state("");
	/** Keys are being made, or the app is about to restart. */
	busy = $state(false);
	failure = $state.raw<ApiError | null>(null);
	report = $state.raw<ProtectionReport | null>(null);
	/** The passphrase of the keys that were made. */
	#prepared = "";
	#closed = false;
	/** The engine was closed, so the page cannot go on without a restart. */
	#left = false;

	constructor(
		private readonly api: Api,
		readonly encrypts: boolean,
	) {
		if (!encrypts) this.step = "passphrase";
	}

	/** Whether the dialog can be closed without a restart. */
	get closable(): boolean {
		return !["working", "report", "failed"].includes(this.step);
	}

	get passphraseReady(): boolean {
		if (this.busy || passphraseFault(this.passphrase) !== null) return false;
		return !this.encrypts || this.repeated === this.passphrase;
	}

	/** Goes back one step. The keys stay, so that a code that was written down stays valid. */
	back(): void {
		const before: Partial<Record<ConversionStep, ConversionStep>> = { passphrase: "about", code: "passphrase", check: "code" };
		this.failure = null;
		this.step = before[this.step] ?? this.step;
	}

	/** Makes the keys and shows the recovery code. The same passphrase keeps its code. */
	async prepare(): Promise<void> {
		if (!this.passphraseReady) return;
		const { passphrase } = this;
		if (this.#prepared === passphrase && this.code !== "") return void (this.step = "code");
		this.busy = true;
		const done = await attempt(this, async () => {
			const code = await this.api.shell.prepareProtection(passphrase);
			if (this.#closed) return this.#forget();
			[this.code, this.typed, this.#prepared] = [code, "", passphrase];
		});
		this.busy = false;
		if (done && !this.#closed) this.step = "code";
	}

	/** Encrypts with the code that was typed back, or decrypts with the passphrase. */
	async convert(): Promise<void> {
		const { shell } = this.api;
		const asked = this.step;
		if (this.busy || asked === "working") return;
		const { typed, passphrase } = this;
		this.step = "working";
		const done = await attempt(this, async () => void (this.report = await (this.encrypts ? shell.protect(typed) : shell.unprotect(passphrase))));
		if (done) this.#clear();
		this.step = done ? "report" : this.#left ? "failed" : asked;
	}

	/** Follows the access to the data. */
	follow(access: Access): void {
		if (access.state !== "open") this.#left = true;
	}

	async restart(): Promise<void> {
		this.busy = true;
		if (!(await attempt(this, () => this.api.shell.restartLocked()))) this.busy = false;
	}

	/** Drops everything that was typed, and the keys that were made. */
	close(): void {
		this.#closed = true;
		if (this.#prepared !== "") void this.#forget();
		this.#clear();
	}

	#clear(): void {
		this.passphrase = this.repeated = this.code = this.typed = this.#prepared = "";
	}

	/** The shell drops the keys with the next restart, too. */
	#forget = (): Promise<void> => this.api.shell.forgetPreparation().catch(() => {});
}
