import protobuf from 'protobufjs';

/**
 * Reads a .proto file and finds the message that a record is; without `message` it must hold one only. Throws an
 * `Error` whose message says what is wrong with the text.
 */
export function parseMessage(text: string, message?: string): protobuf.Type {
  return messageOf(parseProtobuf(text), message);
}

/**
 * Parses a .proto file that may import Google's well-known types and nothing else: a message carries one schema.
 * Field names stay as written.
 */
function parseProtobuf(text: string): protobuf.Root {
  const { root, imports = [] } = protobuf.parse(text, { keepCase: true });
  for (const name of imports) {
    const wellKnown = protobuf.common.get(name);
    if (!wellKnown)
      throw new Error(`import of ${JSON.stringify(name)} is not possible: only google/protobuf/… is known`);
    root.addJSON(wellKnown.nested ?? {});
  }
  root.resolveAll();
  return root;
}

function messageOf(root: protobuf.Root, name: string | undefined): protobuf.Type {
  if (name !== undefined) return root.lookupType(name);
  const types = messagesIn(root);
  const [only] = types;
  if (only && types.length === 1) return only;
  const names = types.map((type) => type.fullName.slice(1)).join(', ');
  throw new Error(`"message" must name one of the messages of the file (${names || 'it has none'})`);
}

/** Messages at the top of the file's packages, without those of Google's imports. */
function messagesIn(namespace: protobuf.NamespaceBase): protobuf.Type[] {
  return namespace.nestedArray.flatMap((nested) => {
    if (nested.fullName.startsWith('.google.protobuf')) return [];
    if (nested instanceof protobuf.Type) return [nested];
    return nested instanceof protobuf.Namespace ? messagesIn(nested) : [];
  });
}

const INDEX = /^(?:0|[1-9]\d*)$/;

/** Messages that are read as one value and have no members of their own. */
const ONE_VALUE = /^\.google\.protobuf\.(?:Timestamp|Duration|\w+Value)$/;

/** Messages whose members the schema does not name. */
const OPEN_TYPES = new Set(['.google.protobuf.Struct', '.google.protobuf.Value', '.google.protobuf.ListValue']);

/** Whether records of this message can have something at the path. */
export function protobufHas(type: protobuf.Type, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined || OPEN_TYPES.has(type.fullName)) return true;
  if (ONE_VALUE.test(type.fullName)) return false;
  const field = Object.hasOwn(type.fields, name) ? type.fields[name] : undefined;
  if (!field) return false;
  // The name of a map's entry, or the place in a list, stands between the field and its value.
  const inner = field.map || field.repeated ? rest.slice(1) : rest;
  if (field.repeated && rest[0] !== undefined && !INDEX.test(rest[0])) return false;
  return field.resolvedType instanceof protobuf.Type ? protobufHas(field.resolvedType, inner) : inner.length === 0;
}
