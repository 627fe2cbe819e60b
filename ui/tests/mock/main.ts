import { start } from "../../src/start";
import { extras } from "../../src/lib/text/extras.svelte";
import { Streamed } from "../../src/lib/text/streamed";
import { MockEngine } from "./engine";
import { patterns } from "./patterns";
import { play, type Scene } from "./scenes";

const query = new URLSearchParams(location.search);
const scene = (query.get("scene") ?? "chat") as Scene;
const theme = query.get("theme") ?? "dark";
localStorage.removeItem("inglenook.library");
localStorage.setItem("inglenook.look", JSON.stringify({ theme, layout: query.get("layout") ?? "bubbles" }));

const engine = new MockEngine(scene, theme as "light" | "dark", query.get("language") ?? "en");
const app = start(engine);
// Tests use these to reach states that clicks cannot.
Object.assign(window, { app, engine, text: { extras, patterns, Streamed } });
void play(scene, engine, app);
