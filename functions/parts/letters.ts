import { deadLettersOf, LETTERS_PATH } from '../../shared/config/dead-letters.ts';
import type { SinkPipeline } from '../../shared/config/resolved.ts';
import { type LetterReader, openLetter } from '../../shared/letters/read.ts';
import { letterRights, type LetterRights } from '../../shared/letters/rights.ts';
import type { PreparingSerializer, Serializer } from '../../shared/mapping/serializer.ts';
import type { PushedMessage } from '../../shared/model/record.ts';

/** Whether a request came by the path of letters. */
export const isLettersPath = (path: string | undefined): boolean =>
  path === LETTERS_PATH || path === `${LETTERS_PATH}/`;

/** Makes a message of the topic for replays the message that first carried the record. Throws a `RedeliverError`. */
export function openLettersOf(name: string, pipeline: SinkPipeline): (message: PushedMessage) => PushedMessage {
  const { attribute } = pipeline.destination;
  const reader: LetterReader = {
    pipeline: name,
    acceptLettersOf: deadLettersOf(pipeline)?.acceptLettersOf ?? [],
    form: pipeline.kind === 'request-sink' ? 'request' : 'entry',
    ...(attribute !== undefined && { destinationAttribute: attribute }),
  };
  return (message) => openLetter(message, reader);
}

/** What the letters of a pipeline may write, given what makes its records writes. */
export function letterRightsOf<Write>(
  { destination, serializer: { kind, ...declared } }: Pick<SinkPipeline, 'destination' | 'serializer'>,
  serializer: Serializer<Write> | PreparingSerializer<Write>,
): LetterRights {
  const isNaming = 'prepare' in serializer ? serializer.mayNameTables === true : serializer.resolve !== undefined;
  return letterRights({
    destination,
    ...('mapping' in declared && { mapping: declared.mapping }),
    // The tables of a mapping are its own to tell.
    namesTables: kind !== 'mapping' && isNaming,
  });
}
