import type { Access } from "../api/access";
import type { ApiError, ProtectionStatus } from "../api/generated";
import type { Api } from "./api";
import { attempt } from "./attempt";
import { Conversion } from "./conversion.svelte";
import { KeyChange, type KeyChangeKind } from "./keyChange.svelte";

/** Why the page is covered: the user hid it, or the app is about to lock itself. */
export type Cover = "hidden" | "locking";

/** Encryption of the data folder: its status, its dialogs, the lock, and the cover of the page. */
export class EncryptionState {
	status = $state.raw<ProtectionStatus | null>(null);
	failure = $state.raw<ApiError | null>(null);
	/** The open dialog that changes a way to unlock the data. */
	change = $state.raw<KeyChange | null>(null);
	/** The open dialog that encrypts or decrypts. */
	conversion = $state.raw<Conversion | null>(null);
	/** Why the page is covered; `null` if it is not. */
	cover = $state<Cover | null>(null);

	constructor(
		private readonly api: Api,
		private readonly failed: (error: ApiError) => void,
	) {}

	get protected(): boolean {
		return this.status?.protected === true;
	}

	/** Whether the app can lock itself now. A browser can only cover the page. */
	get lockable(): boolean {
		return this.protected && this.api.shell.desktop && (this.conversion?.closable ?? true);
	}

	load = (): Promise<boolean> => attempt(this, async () => void (this.status = await this.api.protectionStatus()));

	/** Covers the page. Nothing is locked. */
	hide(): void {
		this.cover ??= "hidden";
	}

	show(): void {
		if (this.cover === "hidden") this.cover = null;
	}

	/** Covers the page at once, then locks the app. Running replies may end first. */
	async lock(): Promise<void> {
		if (this.cover === "locking") return;
		this.cover = "locking";
		const holder: { failure: ApiError | null } = { failure: null };
		await attempt(holder, () => this.api.shell.lock());
		if (!holder.failure) return;
		this.cover = null;
		this.failed(holder.failure);
	}

	askFor(kind: KeyChangeKind): void {
		this.change = new KeyChange(this.api, kind);
	}

	closeChange = (): void => {
		this.change?.close();
		this.change = null;
	};

	/** Applies the open change. The dialog stays open if it failed, or has a new recovery code to show. */
	async applyChange(): Promise<void> {
		const { change } = this;
		if (!change) return;
		const done = await change.apply();
		if (done && this.change === change) this.closeChange();
		if (!change.failure) await this.load();
	}

	/** Opens the dialog that encrypts the data, or the one that decrypts them. */
	convert(encrypts: boolean): void {
		this.conversion = new Conversion(this.api, encrypts);
	}

	closeConversion = (): void => {
		if (!this.conversion?.closable) return;
		this.conversion.close();
		this.conversion = null;
	};

	/** Follows the access to the data. Returns whether the page stays although the engine has closed, because a dialog shows why. */
	follow(access: Access): boolean {
		const { conversion } = this;
		if (!conversion || conversion.closable) return false;
		conversion.follow(access);
		return true;
	}
}
