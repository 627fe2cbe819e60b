import type { Access, AccessControl, Locked, UnlockKind } from "../api/access";
import { asApiError } from "../api/errors";
import type { ApiError } from "../api/generated";

const SECOND = 1_000;

/** The lock page: the secret that is typed, the wait after wrong ones, and the way to the open app. */
export class LockState {
	access = $state.raw<Access>({ state: "opening" });
	/** The secret that the page asks for. */
	kind = $state<"passphrase" | "recovery_code">("passphrase");
	text = $state("");
	failure = $state.raw<ApiError | null>(null);
	/** Remaining seconds until another try. */
	waiting = $state(0);
	/** The whole wait, which is announced once. */
	announcedWait = $state(0);
	/** Failed tries, so that the page selects the text after each. */
	tries = $state(0);
	#trying = $state(false);
	/** The secret was right, and the folder is about to open. */
	#accepted = $state(false);
	#until = 0;
	#timer: ReturnType<typeof setInterval> | undefined;

	constructor(private readonly shell: AccessControl) {}

	readonly locked = $derived<Locked | null>(this.access.state === "locked" ? this.access : null);
	readonly busy = $derived(this.#trying || this.#accepted || this.access.state === "opening");
	readonly ready = $derived(!this.busy && this.waiting === 0 && this.text.trim() !== "");

	receive(access: Access): void {
		this.access = access;
		this.#accepted = false;
		this.#wait(access.state === "locked" ? access.waitSeconds : 0);
	}

	/** Asks for the other secret. */
	switchTo(kind: "passphrase" | "recovery_code"): void {
		[this.kind, this.text, this.failure] = [kind, "", null];
	}

	async unlock(kind: UnlockKind = this.kind): Promise<void> {
		if (this.busy || this.waiting > 0 || (kind !== "keychain" && !this.ready)) return;
		this.#trying = true;
		this.failure = null;
		try {
			await this.shell.unlock(kind, kind === "keychain" ? "" : this.text);
			this.text = "";
			// A page that is still locked learns of the open folder a moment later.
			this.#accepted = this.access.state === "locked";
		} catch (thrown) {
			this.failure = asApiError(thrown);
			this.tries += 1;
		}
		this.#trying = false;
	}

	/** Starts again after a conversion. */
	async restart(): Promise<void> {
		this.#trying = true;
		try {
			await this.shell.restartLocked();
		} catch (thrown) {
			this.failure = asApiError(thrown);
			this.#trying = false;
		}
	}

	/** Drops the text, and stops counting down. */
	close(): void {
		clearInterval(this.#timer);
		this.text = "";
	}

	#wait(seconds: number): void {
		clearInterval(this.#timer);
		// The shell may repeat what is left of the same wait.
		if (seconds > this.waiting) this.announcedWait = seconds;
		if (seconds === 0) this.announcedWait = 0;
		this.waiting = seconds;
		if (seconds === 0) return;
		this.#until = Date.now() + seconds * SECOND;
		this.#timer = setInterval(() => this.#count(), SECOND);
	}

	#count(): void {
		this.waiting = Math.max(0, Math.ceil((this.#until - Date.now()) / SECOND));
		if (this.waiting > 0) return;
		clearInterval(this.#timer);
		this.announcedWait = 0;
	}
}
