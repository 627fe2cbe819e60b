import type { Access, AccessControl, ProtectionReport, UnlockKind } from "../../src/lib/api/access";
import type { ApiError, NewRecoveryCode, ProtectionStatus } from "../../src/lib/api/generated";
import { ago } from "./data";

export const PASSPHRASE = "kettle harbour lantern moss";
const CODE = "CNK6C-ET399-D9NPR-RVBEE-DXR7S-2WKKX-EHTQC-CXVRK-F5X7T-PZ3XR-FSZRG-10C2D-GE20Q";
const NEXT_CODE = "8ZQ4M-0T7WD-K3RBH-VN51J-XP6CS-92GEF-YATQ0-M4KDW-7BJR3-HS8VN-CX1PZ-5TG6Q-QE94K";
const MOST_TRIES = 5;

const refusal = (message: string, hint = "Check it and try again."): ApiError => ({ kind: "badInput", message, hint });
const plain = (code: string) => code.toUpperCase().replace(/[\s-]/g, "");

/** A data folder that the shell locks, encrypts and decrypts. The test sets how it begins. */
export class MockAccess implements AccessControl {
	protection: ProtectionStatus = { protected: false, unlockAtLogin: false, kdf: null, since: null, unfinished: null, keyFileProblem: null, plainLeftovers: [], swap: "none" };
	/** The result of the next conversion. */
	report: ProtectionReport = { databases: 14, files: 212, failed: [], plainLeftovers: [], secondPlaceMissing: false };
	access: Access = { state: "open" };
	/** Number of restarts, of locks and of preparations that were dropped. */
	calls = { restarts: 0, locks: 0, forgotten: 0, active: 0 };
	/** Lets a conversion wait until a test ends it. */
	held: Promise<void> = Promise.resolve();
	#wrong = 0;
	#passphrase = PASSPHRASE;
	#code = CODE;
	#listener: (access: Access) => void = () => {};

	/** The folder is encrypted and open. */
	encrypted(): void {
		const kdf = { algorithm: "argon2id", memoryKib: 217_088, passes: 3 };
		this.protection = { ...this.protection, protected: true, since: ago(400), kdf };
	}

	/** The folder is encrypted and locked. */
	locked(over: Partial<Extract<Access, { state: "locked" }>> = {}): void {
		this.encrypted();
		this.enter({ state: "locked", unlockAtLogin: this.protection.unlockAtLogin, problem: null, waitSeconds: 0, ...over });
	}

	enter(access: Access): void {
		this.access = access;
		this.#listener(access);
	}

	watchAccess(listener: (access: Access) => void): () => void {
		this.#listener = listener;
		listener(this.access);
		return () => (this.#listener = () => {});
	}

	unlock = async (kind: UnlockKind, text: string): Promise<void> => {
		await Promise.resolve();
		const right = kind === "keychain" || (kind === "passphrase" ? text.trim() === this.#passphrase : plain(text) === plain(this.#code));
		if (right) {
			this.enter({ state: "opening" });
			queueMicrotask(() => this.enter({ state: "open" }));
			return;
		}
		this.#wrong += 1;
		if (this.#wrong >= MOST_TRIES) this.locked({ waitSeconds: 30 });
		throw refusal(`The ${kind.replace("_", " ")} is not the right one.`);
	};

	lock = async (): Promise<void> => {
		if (!this.protection.protected) throw refusal("The data folder is not protected.", "");
		this.calls.locks += 1;
	};

	markActive = async (): Promise<void> => void (this.calls.active += 1);

	prepareProtection = async (passphrase: string): Promise<string> => {
		this.#passphrase = passphrase.trim();
		return this.#code;
	};

	forgetPreparation = async (): Promise<void> => void (this.calls.forgotten += 1);

	protect = async (code: string): Promise<ProtectionReport> => {
		if (plain(code) !== plain(this.#code)) throw refusal("The typed recovery code is not the one that was shown.", "");
		return this.#convert(true);
	};

	unprotect = async (passphrase: string): Promise<ProtectionReport> => {
		this.#check(passphrase);
		return this.#convert(false);
	};

	restartLocked = async (): Promise<void> => void (this.calls.restarts += 1);
	savedLanguage = async (): Promise<string> => "";

	op_protection_status = () => this.protection;
	op_change_passphrase = ({ passphrase, replacement }: { passphrase: string; replacement: string }) => {
		this.#check(passphrase);
		this.#passphrase = replacement.trim();
	};
	op_reset_passphrase = ({ code, replacement }: { code: string; replacement: string }) => {
		if (plain(code) !== plain(this.#code)) throw refusal("The recovery code is not the right one.");
		this.#passphrase = replacement.trim();
	};
	op_renew_recovery_code = ({ passphrase }: { passphrase: string }): NewRecoveryCode => {
		this.#check(passphrase);
		this.#code = NEXT_CODE;
		return { code: NEXT_CODE };
	};
	op_set_unlock_at_login = ({ on, passphrase }: { on: boolean; passphrase: string }) => {
		this.#check(passphrase);
		this.protection = { ...this.protection, unlockAtLogin: on };
	};

	#check(passphrase: string): void {
		if (passphrase.trim() !== this.#passphrase) throw refusal("The passphrase is not the right one.");
	}

	async #convert(encrypting: boolean): Promise<ProtectionReport> {
		this.enter({ state: "converting", encrypting });
		await this.held;
		this.enter({ state: "converted" });
		return this.report;
	}
}
