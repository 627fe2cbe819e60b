import { mount, unmount } from "svelte";
import "./app.css";
import type { Access, AccessControl } from "./lib/api/access";
import type { Transport } from "./lib/api/transport";
import { setLanguage } from "./lib/i18n/i18n.svelte";
import { api } from "./lib/state/api";
import type { App } from "./lib/state/app.svelte";
import { LockState } from "./lib/state/lock.svelte";
import { loadPageValues } from "./lib/state/pageValues";
import LockScreen from "./screens/lock/LockScreen.svelte";
import { start } from "./start";

/** The app as the gate sees it. */
type Guarded = Pick<App, "encryption">;

/** What the gate does with the page. */
export interface Pages {
	/** Shows the app as soon as the choices of the page are read. */
	start(): Promise<Guarded>;
	/** Shows the lock page. The returned function removes it. */
	lock(lock: LockState): () => void;
	reload(): void;
}

/**
 * Shows the lock page while the data are locked, and the app otherwise.
 *
 * The app is started while an unprotected folder is still being opened, and appears when its choices are read. An app on the page is never unmounted. If
 * the folder closes, the page is loaded again, unless a dialog of the app shows how it is converted.
 */
export class Gate {
	#started = false;
	#app: Guarded | null = null;
	/** The folder has been open since the app was started. */
	#opened = false;
	#lock: { state: LockState; remove: () => void } | null = null;

	constructor(
		private readonly transport: AccessControl,
		private readonly pages: Pages,
	) {}

	open(): () => void {
		return this.transport.watchAccess((access) => this.#receive(access));
	}

	#receive(access: Access): void {
		if (this.#started) this.#guard(access);
		else if (access.state === "open" || (access.state === "opening" && !this.#lock)) this.#start(access);
		else this.#showLock(access);
	}

	#start(access: Access): void {
		this.#lock?.state.close();
		this.#lock?.remove();
		this.#lock = null;
		this.#opened = access.state === "open";
		this.#started = true;
		void this.pages.start().then((app) => (this.#app = app));
	}

	#showLock(access: Access): void {
		if (!this.#lock) {
			const state = new LockState(this.transport);
			state.receive(access);
			this.#lock = { state, remove: this.pages.lock(state) };
		} else this.#lock.state.receive(access);
	}

	#guard(access: Access): void {
		const expected = access.state === "open" || (access.state === "opening" && !this.#opened);
		if (access.state === "open") this.#opened = true;
		if (!this.#app?.encryption.follow(access) && !expected) this.pages.reload();
	}
}

/** Shows the lock page or the app, as the folder is. The returned function stops that. */
export function openGate(transport: Transport, started: (app: App) => void = () => {}): () => void {
	const pages: Pages = {
		start: async () => {
			const app = start(transport, await loadPageValues(api(transport)));
			started(app);
			return app;
		},
		lock: (lock) => {
			// Nothing of the settings is readable yet but the language.
			setLanguage("");
			transport.savedLanguage().then(setLanguage, () => {});
			const target = document.getElementById("app") ?? document.body;
			const page = mount(LockScreen, { target, props: { lock } });
			return () => void unmount(page);
		},
		reload: () => location.reload(),
	};
	return new Gate(transport, pages).open();
}
