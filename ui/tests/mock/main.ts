import { openGate } from "../../src/gate";
import { api } from "../../src/lib/state/api";
import { loadPageValues } from "../../src/lib/state/pageValues";
import { preparePage, start } from "../../src/start";
import { extras } from "../../src/lib/text/extras.svelte";
import { Streamed } from "../../src/lib/text/streamed";
import { MockEngine } from "./engine";
import { patterns } from "./patterns";
import { play, type Scene } from "./scenes";

const query = new URLSearchParams(location.search);
const scene = (query.get("scene") ?? "chat") as Scene;
const theme = query.get("theme") ?? "dark";

const engine = new MockEngine(scene, theme as "light" | "dark", query.get("language") ?? "en");
// A test keeps choices over a reload here, as the data folder does over a restart.
for (const [key, value] of JSON.parse(sessionStorage.getItem("mock.values") ?? "[]") as [string, string][]) engine.pageValues.stored.set(key, value);
engine.pageValues.stored.set("inglenook.look", JSON.stringify({ theme, layout: query.get("layout") ?? "bubbles" }));
preparePage(engine);
if (query.get("access") === "locked") {
	// The lock page comes first. Its app has the theme of the system until it is open.
	document.documentElement.dataset.theme = theme;
	Object.assign(window, { engine });
	engine.locked({ unlockAtLogin: query.get("keychain") === "on" });
	openGate(engine, (app) => Object.assign(window, { app }));
	document.documentElement.dataset.ready = "yes";
} else {
	const app = start(engine, await loadPageValues(api(engine)));
	// Tests use these to reach states that clicks cannot.
	Object.assign(window, { app, engine, text: { extras, patterns, Streamed } });
	engine.watchAccess((access) => app.encryption.follow(access));
	void play(scene, engine, app);
}
