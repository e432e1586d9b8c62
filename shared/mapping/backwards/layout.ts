/** The record that a row becomes, as nested objects whose members are known beforehand. Pure. */

export interface Place {
  readonly path: readonly string[];
  /** Of the list of texts that a row fills. */
  readonly slot: number;
}

/** An object that is null as a whole where families live in it and the row has no cell of them. */
export interface NullableObject {
  readonly path: readonly string[];
  /** Of those families: all of them are empty where it is null. Whatever else is in it is null then. */
  readonly slots: readonly number[];
}

/** Writes the record of a row. A slot that is undefined is null. */
export type WriteRecord = (slots: readonly (string | undefined)[]) => string;

interface Node {
  readonly members: Map<string, Node>;
  slot: number | undefined;
  nullable: readonly number[] | undefined;
}

const newNode = (): Node => ({ members: new Map(), slot: undefined, nullable: undefined });

/** @param nullable objects that hold places; one that holds none is not written. */
export function compileLayout(places: readonly Place[], nullable: readonly NullableObject[]): WriteRecord {
  const root = newNode();
  const nodeAt = (path: readonly string[]): Node => {
    let node = root;
    for (const name of path) {
      const next = node.members.get(name) ?? newNode();
      node.members.set(name, next);
      node = next;
    }
    return node;
  };
  for (const { path, slot } of places) nodeAt(path).slot = slot;
  for (const { path, slots } of nullable) nodeAt(path).nullable = slots;
  return compileNode(root);
}

function compileNode(node: Node): WriteRecord {
  const { members, slot, nullable } = node;
  if (slot !== undefined) return (slots) => slots[slot] ?? 'null';
  const written = [...members].map(([name, member]) => ({
    start: `${JSON.stringify(name)}:`,
    write: compileNode(member),
  }));
  const all = slotsOf(node);
  const isNull = (slots: readonly (string | undefined)[]): boolean =>
    nullable !== undefined &&
    nullable.every((each) => slots[each] === undefined) &&
    all.every((each) => (slots[each] ?? 'null') === 'null');
  return (slots) => {
    if (isNull(slots)) return 'null';
    let text = '';
    for (const { start, write } of written) text += `${text === '' ? '{' : ','}${start}${write(slots)}`;
    return `${text}}`;
  };
}

const slotsOf = ({ members, slot }: Node): number[] =>
  slot === undefined ? [...members.values()].flatMap(slotsOf) : [slot];
