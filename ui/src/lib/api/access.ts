import type { ApiError } from "./generated";

/** Whether the data folder is open, and what the user has to do if it is not. */
export type Access =
	| { state: "opening" }
	| {
			state: "locked";
			/** The system's keychain can unlock the folder. */
			unlockAtLogin: boolean;
			/** Why the folder needs attention, such as a damaged key file; `null` if it does not. */
			problem: string | null;
			/** Remaining seconds until another try, after several wrong ones. */
			waitSeconds: number;
	  }
	| { state: "converting"; encrypting: boolean }
	/** The folder was encrypted or decrypted. Only a restart goes on. */
	| { state: "converted" }
	| { state: "open" };

export type Locked = Extract<Access, { state: "locked" }>;

/** A secret that unlocks the folder. The keychain needs no text. */
export type UnlockKind = "passphrase" | "recovery_code" | "keychain";

/** The result of encrypting or decrypting the data folder, with what failed. */
export interface ProtectionReport {
	/** Number of databases that were converted, including backups. */
	databases: number;
	/** Number of pictures and other files that were converted, including those of backups. */
	files: number;
	/** Files that stay as they were, with the reason. */
	failed: { file: string; reason: string }[];
	/** Files that are still not encrypted. */
	plainLeftovers: string[];
	/** The second place for backups is not available, so its backups stay as they are. */
	secondPlaceMissing: boolean;
}

/** Locks, unlocks, encrypts and decrypts the data folder. Only the desktop window can; in a browser, all of it does nothing. */
export interface AccessControl {
	/** Reports the access now and after every change, until the returned function is called. */
	watchAccess(listener: (access: Access) => void): () => void;
	/** Unlocks the folder, which is opened then. Rejects with an `ApiError` for a wrong secret. */
	unlock(kind: UnlockKind, text: string): Promise<void>;
	/** Saves, stops the engine and restarts the app with the folder locked. */
	lock(): Promise<void>;
	/** The user typed, clicked or scrolled, so the app must not lock itself yet. */
	markActive(): Promise<void>;
	/** Makes new keys in memory and returns the recovery code. A second call replaces them. */
	prepareProtection(passphrase: string): Promise<string>;
	/** Drops the keys that were made. */
	forgetPreparation(): Promise<void>;
	/** Encrypts the folder with the keys that were made. `code` is the recovery code as the user typed it. */
	protect(code: string): Promise<ProtectionReport>;
	/** Decrypts the folder. */
	unprotect(passphrase: string): Promise<ProtectionReport>;
	/** Restarts the app after the folder was encrypted or decrypted. */
	restartLocked(): Promise<void>;
	/** The language of the interface, which is known before the folder is unlocked. Empty follows the system. */
	savedLanguage(): Promise<string>;
}

const DESKTOP_ONLY: ApiError = { kind: "badInput", message: "Only the desktop app can do this.", hint: "Use `nook protect` on the computer that has the data." };

/** For a browser: a server opens its folder before it serves the page, and locks it when it ends. */
export class NoAccess implements AccessControl {
	watchAccess: AccessControl["watchAccess"] = () => () => {};
	unlock: AccessControl["unlock"] = async () => {};
	lock = async (): Promise<void> => {};
	markActive = async (): Promise<void> => {};
	prepareProtection: AccessControl["prepareProtection"] = () => Promise.reject(DESKTOP_ONLY);
	forgetPreparation = async (): Promise<void> => {};
	protect: AccessControl["protect"] = () => Promise.reject(DESKTOP_ONLY);
	unprotect: AccessControl["unprotect"] = () => Promise.reject(DESKTOP_ONLY);
	restartLocked = async (): Promise<void> => {};
	savedLanguage = async (): Promise<string> => "";
}
