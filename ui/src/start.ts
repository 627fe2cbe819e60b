import { mount } from "svelte";
import "./app.css";
import Root from "./Root.svelte";
import type { Transport } from "./lib/api/transport";
import { keepComposing } from "./lib/parts/composing";
import { keepContextMenu } from "./lib/parts/contextMenu";
import { App } from "./lib/state/app.svelte";

/** Mounts the UI on the page, connected to the engine through `transport`. */
export function start(transport: Transport): App {
	// This listener must be registered first.
	keepComposing(window);
	if (transport.desktop && !import.meta.env.DEV) window.addEventListener("contextmenu", keepContextMenu);
	const app = new App(transport);
	const target = document.getElementById("app") ?? document.body;
	mount(Root, { target, props: { app } });
	return app;
}
