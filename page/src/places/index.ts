// The places and parts that the first screen does not need. Built as a file of its own.

export { default as Agents } from './Agents.svelte';
export { default as Care } from './Care.svelte';
export { default as Facts } from './Facts.svelte';
export { default as History } from './History.svelte';
export { default as MapPlace } from './MapPlace.svelte';
export { default as NotePlace } from './NotePlace.svelte';
export { default as Team } from './Team.svelte';
export { default as Contradictions } from '../parts/Contradictions.svelte';
