import { mount } from "svelte";
import "./app.css";
import Root from "./Root.svelte";
import type { Transport } from "./lib/api/transport";
import { keepComposing } from "./lib/parts/composing";
import { keepContextMenu } from "./lib/parts/contextMenu";
import { App } from "./lib/state/app.svelte";
import type { PageValues } from "./lib/state/pageValues";

/** Registers the listeners of the page. They must be its first ones. */
export function preparePage({ desktop }: Pick<Transport, "desktop">): void {
	keepComposing(window);
	if (desktop && !import.meta.env.DEV) window.addEventListener("contextmenu", keepContextMenu);
}

/** Mounts the UI on the page, connected to the engine through `transport`. */
export function start(transport: Transport, values: PageValues): App {
	const app = new App(transport, values);
	const target = document.getElementById("app") ?? document.body;
	mount(Root, { target, props: { app } });
	return app;
}
