// Code of the JavaScript clients here that log in: they call a tool, and one that needs another scope, are denied others, and print
// the counts.
//
// A script for one client ends with `await main(connect)`, where `connect(url, mode, provider)` returns a client that is not
// connected, and its transport. The command line is that of the Python scripts: login_CLIENT.mjs MODE URL

export const client = { name: "login", version: "1.0.0" };

const REDIRECT = "http://127.0.0.1:9/callback";

// The second tool needs the scope `pay`, which the first login does not have.
export const CALLS = [
  { name: "add", arguments: { a: 1, b: 2 } },
  { name: "divide", arguments: { dividend: 6, divisor: 2 } },
];

// Rules deny a tool, which then does not exist, and calls of another one with some arguments.
export const HIDDEN = { name: "gcd", arguments: { a: 1, b: 2 } };
export const DENIED = { name: "divide", arguments: { dividend: 6, divisor: 12 } };

// How many of these the server refuses as it should: the list of tools, and the texts of both calls. `unknown` is the text for a tool
// that does not exist.
export function countDenied(names, hidden, denied, unknown = "unknown tool `gcd`") {
  const expected = [
    !names.includes(HIDDEN.name),
    hidden.includes(unknown),
    denied.includes("Not allowed: divide with divisor = 12"),
  ];
  if (expected.includes(false)) throw new Error(JSON.stringify({ names, hidden, denied }));
  return expected.length;
}

// Keeps what a login needs, and opens the page of an issuer that redirects at once.
class Provider {
  logins = 0;
  // The parameters of the redirect that the client has not read yet.
  answer = undefined;
  redirectUrl = REDIRECT;
  clientMetadata = { client_name: "test", redirect_uris: [REDIRECT] };

  state = () => "state";
  clientInformation = () => this.information;
  saveClientInformation = (information) => {
    this.information = information;
  };
  tokens = () => this.stored;
  saveTokens = ({ refresh_token: _, ...tokens }) => {
    // Version 1 of the SDK would use a refresh token for a login with more scopes, and that cannot get them.
    this.stored = tokens;
  };
  saveCodeVerifier = (verifier) => {
    this.verifier = verifier;
  };
  codeVerifier = () => this.verifier;

  redirectToAuthorization = async (url) => {
    const response = await fetch(url, { redirect: "manual" });
    const location = response.headers.get("location");
    if (!location?.startsWith(REDIRECT)) throw new Error(`${response.status} ${await response.text()}`);
    this.answer = new URL(location).searchParams;
    this.logins += 1;
  };
}

export async function main(connect) {
  const [mode, url] = process.argv.slice(2);
  const provider = new Provider();
  // Does something again if it had to log in.
  const loggedIn = async (act, transport) => {
    try {
      return await act();
    } catch (error) {
      if (provider.answer === undefined) throw error;
      const answer = provider.answer;
      provider.answer = undefined;
      await transport().finishAuth(answer);
      return await act();
    }
  };
  let session;
  const open = async () => {
    session = connect(new URL(url), mode, provider);
    await session.client.connect(session.transport);
  };
  await loggedIn(open, () => session.transport);
  let called = 0;
  for (const call of CALLS) {
    const result = await loggedIn(
      () => session.client.callTool(call),
      () => session.transport,
    );
    if (result.isError) throw new Error(`${call.name}: ${JSON.stringify(result)}`);
    called += 1;
  }
  const { client } = session;
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  const hidden = await client.callTool(HIDDEN).catch((error) => error);
  const denied = countDenied(names, String(hidden), JSON.stringify(await client.callTool(DENIED)));
  console.log(JSON.stringify({ called, denied, logins: provider.logins }));
  await session.client.close();
}
