import type { OutgoingMessage } from '../../shared/model/publishing.ts';
import { letterMessage, type ScanLetter } from '../../shared/scan/letter.ts';

/** A letter of a scan source, of one problem of one split unless told otherwise. */
export const scanLetter = ({
  pipeline = 'rows',
  ...letter
}: Partial<ScanLetter> & { readonly pipeline?: string } = {}): OutgoingMessage =>
  letterMessage(pipeline, {
    run: 'run-1',
    split: 'split-7',
    reason: 'form',
    problem: 'value: must be UTF-8',
    data: Buffer.from('row'),
    ...letter,
  });
