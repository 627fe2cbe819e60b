import type { Persona } from "../api/generated";

/** A persona that is not stored yet. */
export const NEW_PERSONA: Persona = { id: "", name: "", description: "", instructions: "", picture: null, place: { position: "template", depth: 2, role: "system" }, characters: [] };
