import { attributeFields, framedSize, messageSize, writeMessage } from '../../shared/emission/messages/wire-message.ts';
import type { WireMessage } from '../../shared/emission/ports.ts';
import type { OutgoingMessage } from '../../shared/model/publishing.ts';

/** A message written down alone, its data behind it where `isApart` says so. */
export function wireMessage(
  message: OutgoingMessage,
  { common = attributeFields({}), isApart = false }: { readonly common?: Buffer; readonly isApart?: boolean } = {},
): WireMessage {
  const bytes = messageSize(message, common);
  const slab = Buffer.alloc(framedSize(bytes) + 8, 0xaa);
  const end = writeMessage(slab, 4, message, common, bytes, !isApart);
  return { slab: { buffer: slab }, start: 4, end, data: isApart ? message.data : undefined };
}
