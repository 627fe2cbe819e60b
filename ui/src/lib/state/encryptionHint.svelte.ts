import type { Api } from "./api";

interface Callbacks {
	/** Runs an action and shows an error as a toast. */
	attempt(action: () => Promise<unknown>): Promise<void>;
	/** Opens the place where the chats can be encrypted. */
	show(): void;
}

/** The hint after the first week that the chats are not encrypted. Only the desktop window can encrypt them. */
export class EncryptionHint {
	shown = $state(false);

	constructor(
		private readonly api: Api,
		private readonly callbacks: Callbacks,
	) {}

	async load(): Promise<void> {
		this.shown = this.api.shell.desktop && (await this.api.hintsAtEncryption());
	}

	follow = (): Promise<void> => {
		this.callbacks.show();
		return this.dismiss();
	};

	/** Hides the hint for good. */
	dismiss = async (): Promise<void> => {
		this.shown = false;
		await this.callbacks.attempt(() => this.api.dismissEncryptionHint());
	};
}
