// The columns of the map, shared by Now and Map, and the titles that were asked for.

import { get } from './api';
import { Loaded } from './load.svelte';
import type { MapAnswer, Place } from './types';

export const memoryMap = new Loaded<MapAnswer>();
export const readMap = () => memoryMap.load((signal) => get<MapAnswer>('map', {}, signal));

export interface Titled extends Place { id: number; title: string }
const titles = new Map<number, Titled>();
const MOST_IDS = 400;

/** Titles of some memories; known ones are not asked for again. */
export async function titlesOf(ids: number[]): Promise<Map<number, Titled>> {
  const missing = ids.filter((id) => !titles.has(id)).slice(0, MOST_IDS);
  if (missing.length) {
    const answer = await get<{ items: Titled[] }>('map/titles', { ids: missing.join(',') });
    for (const item of answer.items) titles.set(item.id, item);
  }
  return titles;
}

export const knownTitle = (id: number) => titles.get(id);
/** Titles may have changed. */
export const forgetTitles = () => titles.clear();

export async function linksOf(ids: number[]): Promise<[number, number][]> {
  const answer = await get<{ edges: [number, number][] }>('map/links', { ids: ids.slice(0, MOST_IDS).join(',') });
  return answer.edges;
}
