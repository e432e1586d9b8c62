import { GrpcError } from '../../rpc/grpc.ts';

/**
 * Takes the fields that a mask names from `changes`, all others from `current`. Pure.
 * @param fields the paths that may be changed, as the wire spells them, with the property of each.
 * @throws INVALID_ARGUMENT for an empty mask, and for a path that does not exist or may not be changed.
 */
export function applyMask<Resource extends object>(
  current: Resource,
  changes: Resource,
  mask: readonly string[] | undefined,
  fields: Readonly<Record<string, keyof Resource>>,
): Resource {
  if (!mask || mask.length === 0) throw new GrpcError('INVALID_ARGUMENT', 'update_mask: must name at least one field');
  const updated = { ...current };
  for (const path of mask) {
    // A path into a field (`push_config.push_endpoint`) replaces the whole field, as the clients send it whole.
    const field = fields[path.split('.')[0] ?? ''];
    if (field === undefined) {
      throw new GrpcError('INVALID_ARGUMENT', `update_mask: "${path}" does not exist or cannot be changed`);
    }
    updated[field] = changes[field];
  }
  return updated;
}
