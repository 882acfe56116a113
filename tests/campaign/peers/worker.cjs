// Ask one checker of Node.js about pairs of schemas: a pair in each line, an answer in each line.
const readline = require("node:readline");
const { createRequire } = require("node:module");
const path = require("node:path");

const load = createRequire(path.join(process.argv[3], "package.json"));
const answer = {
  "json-schema-diff": async (sourceSchema, destinationSchema) => {
    const found = await load("json-schema-diff").diffSchemas({ sourceSchema, destinationSchema });
    return { breaking: found.removalsFound };
  },
  "json-schema-diff-validator": async (before, after) => {
    try {
      load("json-schema-diff-validator").validateSchemaCompatibility(before, after);
      return { breaking: false };
    } catch (error) {
      if (error.message.includes("not backward compatible")) return { breaking: true };
      throw error;
    }
  },
}[process.argv[2]];

(async () => {
  load(process.argv[2]);
  process.stdout.write("ready\n");
  for await (const line of readline.createInterface({ input: process.stdin })) {
    let found;
    try {
      found = await answer(...JSON.parse(line));
    } catch (error) {
      found = { error: String(error).slice(0, 200) };
    }
    process.stdout.write(JSON.stringify(found) + "\n");
  }
})();
