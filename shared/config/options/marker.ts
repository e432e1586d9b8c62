import { notBlank, text } from '../option.ts';

/** The column family in which a marker of a write is kept beside what it wrote. */
export const markerFamily = (about: string) => text(about, notBlank, 'not blank');
