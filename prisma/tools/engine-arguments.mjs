/**
 * Parses the arguments with which the Prisma CLI starts its engine.
 *
 * @param {string[]} argv
 */
export function parseArguments(argv) {
  const datamodels = [];
  const command = [];
  let databaseUrl;
  let isVersionAsked = false;
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--version') isVersionAsked = true;
    else if (word === '--datamodels') datamodels.push(rest.shift() ?? '');
    else if (word === '--datasource') databaseUrl = JSON.parse(rest.shift() ?? '{}').url;
    else if (word.startsWith('--')) rest.shift();
    else command.push(word);
  }
  return { command, databaseUrl, datamodels, isVersionAsked };
}
