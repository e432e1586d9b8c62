import { http } from '@google-cloud/functions-framework';

/** The function that does nothing: what the framework alone costs. */
http('noop', (_request, response) => {
  response.status(204).send();
});
