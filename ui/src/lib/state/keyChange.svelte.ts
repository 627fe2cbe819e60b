import type { ApiError } from "../api/generated";
import type { Api } from "./api";
import { attempt } from "./attempt";
import { passphraseFault } from "./passphrase";

/** A change of the ways to unlock the data. Each needs the passphrase, or the recovery code if the passphrase is lost. */
export type KeyChangeKind = "changePassphrase" | "resetPassphrase" | "renewCode" | "keychainOn" | "keychainOff";

/** The dialog that changes a passphrase, the recovery code or the use of the keychain. Its texts live as long as the dialog. */
export class KeyChange {
	/** The passphrase, or the recovery code. */
	secret = $state("");
	replacement = $state("");
	repeated = $state("");
	working = $state(false);
	failure = $state.raw<ApiError | null>(null);
	/** The new recovery code. It is shown once. */
	code = $state("");

	constructor(
		private readonly api: Api,
		readonly kind: KeyChangeKind,
	) {}

	/** The secret is the recovery code. */
	get byCode(): boolean {
		return this.kind === "resetPassphrase";
	}

	/** A new passphrase is chosen. */
	get replaces(): boolean {
		return this.kind === "changePassphrase" || this.kind === "resetPassphrase";
	}

	get ready(): boolean {
		if (this.working || this.secret.trim() === "") return false;
		return !this.replaces || (passphraseFault(this.replacement) === null && this.repeated === this.replacement);
	}

	/** Returns whether the change is made and nothing is left to show. */
	async apply(): Promise<boolean> {
		if (!this.ready) return false;
		this.working = true;
		const done = await attempt(this, () => this.#apply());
		this.working = false;
		if (done) this.#clear();
		return done && this.code === "";
	}

	/** Drops everything that was typed or shown. */
	close(): void {
		this.#clear();
		this.code = "";
	}

	#clear(): void {
		this.secret = this.replacement = this.repeated = "";
	}

	async #apply(): Promise<void> {
		const { api, secret, replacement } = this;
		switch (this.kind) {
			case "changePassphrase":
				return api.changePassphrase(secret, replacement);
			case "resetPassphrase":
				return api.resetPassphrase(secret, replacement);
			case "renewCode":
				this.code = (await api.renewRecoveryCode(secret)).code;
				return;
			default:
				return api.setUnlockAtLogin(this.kind === "keychainOn", secret);
		}
	}
}
