import type { Event, UpdateStatus } from "../../src/lib/api/generated";
import { ago } from "./data";

const NOTES = { en: "- Replies start **sooner**.\n- The list of chats scrolls smoothly.", de: "- Antworten beginnen **früher**.\n- Die Liste der Chats rollt flüssig." };
const BYTES = 84_000_000;

/** Updates from a server that has version 0.2.0. */
export class MockUpdates {
	status: UpdateStatus = { version: "0.1.0", method: "app", hasAddress: true, lastCheck: null, phase: "idle", available: null, downloaded: 0, failure: null, nextVersion: null, previous: null };

	constructor(private readonly emit: (event: Event) => void) {}

	/** Version 0.0.9 ran before this one. */
	updated(): void {
		const backup = { file: "/home/sam/.local/share/inglenook/backups/20261121T101500Z.db", taken: ago(50), bytes: 18_000_000, pictures: 42, kind: "upgrade" as const, second: false, foreign: false, checked: true };
		this.status = { ...this.status, previous: { version: "0.0.9", backup } };
	}

	/** The app was installed by apt. */
	packaged(): void {
		this.status = { ...this.status, method: "deb" };
	}

	/** The server does not answer. */
	unreachable(): void {
		this.status = { ...this.status, failure: { kind: "provider", class: "unreachable", message: "The server of updates cannot be reached, or the connection was lost.", hint: "Check the network, then try again. A download resumes where it stopped." } };
	}

	op_updates_status = () => this.status;
	op_check_for_updates = () => {
		const packaged = this.status.method === "deb";
		const available = { version: "0.2.0", published: ago(30), notes: NOTES, bytes: packaged ? null : BYTES, command: packaged ? "sudo apt install ./inglenook_0.2.0_amd64.deb" : null };
		return this.#become({ phase: "available", available, lastCheck: ago(0), failure: null });
	};
	op_download_update = () => this.#become({ phase: "downloading" });
	op_stop_update_download = () => this.#become({ phase: "available" });
	op_install_update = () => this.#become({ phase: "restart", nextVersion: "0.2.0" });
	op_go_back_to_previous_version = () => this.#become({ phase: "restart", nextVersion: this.status.previous?.version ?? null });

	/** Brings the download to a share of the archive; the whole ends it. */
	reach(share: number): void {
		this.#become({ downloaded: BYTES * share, phase: share < 1 ? "downloading" : "ready" });
	}

	#become(change: Partial<UpdateStatus>): UpdateStatus {
		this.status = { ...this.status, ...change };
		this.emit({ event: "updateChanged", status: this.status });
		return this.status;
	}
}
