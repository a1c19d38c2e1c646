import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reefknot.model.encoding import to_bytes, to_text
from reefknot.text.secrets import Masked, mask, mask_bytes

# Nothing here is a secret: values are made up, and put together at run time.
_LETTERS = random.Random(7)


def made_up(length: int, letters: str = string.ascii_letters + string.digits) -> str:
    body = "".join(_LETTERS.choices(letters, k=length - 4))
    return body[:5] + "q7R2" + body[5:]


HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"
KEY_LABEL = "RSA PRIVATE" + " KEY"
BODY = [made_up(64, string.ascii_letters + string.digits + "+/") for _ in range(3)] + ["q2Jc"]
PEM = "\n".join([f"-----BEGIN {KEY_LABEL}-----", *BODY, f"-----END {KEY_LABEL}-----"])

BY_SHAPE = {
    "anthropic": ("sk-" + "ant-api03-" + made_up(40), "sk"),
    "openai project": ("sk-" + "proj-" + made_up(40), "sk"),
    "openrouter": ("sk-" + "or-v1-" + made_up(64, HEX), "sk"),
    "generic sk": ("sk-" + made_up(48), "sk"),
    "stripe live": ("sk" + "_live_" + made_up(24), "stripe"),
    "stripe restricted": ("rk" + "_test_" + made_up(24), "stripe"),
    "stripe webhook": ("whsec" + "_" + made_up(32), "stripe"),
    "github fine grained": ("github" + "_pat_" + made_up(60), "github"),
    "github classic": ("gh" + "p_" + made_up(36), "github"),
    "github server": ("gh" + "s_" + made_up(36), "github"),
    "gitlab": ("gl" + "pat-" + made_up(20), "gitlab"),
    "npm": ("npm" + "_" + made_up(36), "npm"),
    "pypi": ("pypi" + "-AgE" + made_up(80), "pypi"),
    "shopify": ("shp" + "at_" + made_up(32, HEX).replace("q7R2", "a7b2"), "shopify"),
    "hugging face": ("hf" + "_" + made_up(34), "huggingface"),
    "google api": ("AI" + "za" + made_up(35), "google"),
    "google oauth": ("ya" + "29." + made_up(60), "google"),
    "slack bot": ("xo" + "xb-" + "12345678901-" + made_up(24), "slack"),
    "slack app": ("xa" + "pp-1-" + made_up(24), "slack"),
    "aws key id": ("AK" + "IA" + "QZ7WNTE2KXB4LM3P", "aws-key"),
    "aws temporary key id": ("AS" + "IA" + "QZ7WNTE2KXB4LM3P", "aws-key"),
    "nostr": ("nsec" + "1" + "q7f2" * 14 + "ac", "nostr"),
    "perplexity": ("pp" + "lx-" + made_up(48), "perplexity"),
    "xai": ("xa" + "i-" + made_up(80), "xai"),
    "groq": ("gs" + "k_" + made_up(52), "groq"),
    "fish": ("fi" + "sh_" + made_up(32), "fish"),
    "keen": ("ke" + "en_" + made_up(32), "keen"),
    "nebius": ("n" + "k_" + made_up(32), "nebius"),
    "sendgrid": ("SG" + "." + made_up(22) + "." + made_up(43), "sendgrid"),
    "age": ("AGE-" + "SECRET-KEY-1" + "QZ7WNTE2KXB4LM3P" * 3, "age"),
    "vault": ("hv" + "s." + made_up(24), "vault"),
    "digitalocean": ("do" + "p_v1_" + "a1b2c3d4" * 8, "digitalocean"),
    "jwt": ("ey" + "J" + made_up(30) + ".ey" + "J" + made_up(60) + "." + made_up(43), "jwt"),
}


@pytest.mark.parametrize("name", BY_SHAPE)
@pytest.mark.parametrize(
    "around", ["{}", "see {} there", '{{"k": "{}"}}', "a={};b", "line\\n{}\\nline", "\x1b[32m{}\x1b[0m", "({})"]
)
def test_a_secret_with_a_shape_of_its_own_is_masked_wherever_it_stands(name: str, around: str) -> None:
    secret, family = BY_SHAPE[name]
    masked = mask(around.format(secret))
    assert masked.text == around.format(f"[REDACTED:{family}]")
    assert (masked.count, dict(masked.families)) == (1, {family: 1})


PART_OF = {
    "slack webhook": ("https://hooks.slack" + ".com/services/{}", "T0AB12CD3/B0AB12CD3/" + made_up(24), "slack"),
    "discord webhook": ("https://discord" + ".com/api/webhooks/123456789012345678/{}", made_up(68), "discord"),
    "telegram bot": ("https://api.telegram.org/bot1234567890" + ":AA{}/getMe", made_up(33), "telegram"),
    "azure sas": ("https://x.blob.core.windows.net/c/f?sv=2023&sig={}&se=2026", made_up(43) + "%3D", "azure"),
    "azure account key": ("AccountName=reef;Account" + "Key={};EndpointSuffix=core", made_up(86) + "==", "api-key"),
    "presigned": (
        "https://b.s3.amazonaws.com/k?X-Amz-Date=20260101T000000Z&X-Amz-Signature={}",
        "a1b2c3d4" * 8,
        "signature",
    ),
    "password in url": ("postgresql://orders:{}@db.reef.example:5432/orders", "tR4wl-Gr0und-88", "url-password"),
    "token in url": ("https://{}@git.reef.example/x.git", made_up(40), "url-token"),
    "bearer": ("curl -H 'X: Bearer {}' https://reef.example", made_up(32), "bearer"),
    "authorization": ("Authorization: Bearer {}", made_up(12), "authorization"),
    "authorization token": ('"authorization": "Token {}"', made_up(20), "authorization"),
    "basic": ("< Proxy: Basic {}", "YWRhOm" + "x1dHRlcndvcnRoMTg=", "basic"),
    "cookie": ("Cookie: theme=dark; sid={}; lang=en", made_up(26), "cookie"),
    "set cookie": ("< set-cookie: session={}; Path=/; HttpOnly", made_up(26), "cookie"),
    "docker auth": ('{{"auths": {{"r.example": {{"auth": "{}"}}}}}}', "YWRhOm" + "x1dHRlcndvcnRoMTg=", "basic"),
    "curl user": ("curl -s -u ada:{} https://reef.example", "s3cret-pw", "password"),
    "mysql": ("mysql -h db -u root -p{} orders", "S3cretPw", "password"),
    "sshpass": ("sshpass -p {} ssh ada@reef", "S3cretPw", "password"),
    "redis": ("redis-cli -h db -a {} PING", "S3cretPw", "password"),
    "netrc": ("machine reef.example login ada password {}", "s3cret-pw", "password"),
    "dotenv": ("DB_PASSWORD={}", "correcthorse", "password"),
    "dotenv export": ("export STRIPE_API_KEY={}", "abcd1234efgh5678", "api-key"),
    "dotenv with signs": ("A=1\nSMTP_PASS={}\nB=2", "p&ss,w(rd)|9", "password"),
    "aws secret": ("AWS_SECRET_ACCESS_KEY={}", "wJ7r" + "Xk2Lq9/bPx5RfiCYz3EtMvNa8+oDhGuQsZ1WcKj", "api-key"),
    "aws secret in json": ('"SecretAccessKey": "{}"', "wJ7r" + "Xk2Lq9/bPx5RfiCYz3EtMvNa8+oDhGuQsZ1WcKj", "api-key"),
    "json": ('{{"user": "ada", "password": "{}"}}', "hunter2!x", "password"),
    "json in json": ('{{"body": "{{\\"client_secret\\": \\"{}\\"}}"}}', "a1b2c3d4e5f6", "secret"),
    "python": ("client = Client(api_key='{}', retries=3)", "a1b2c3d4e5f6", "api-key"),
    "python with a type": ('password: str = "{}"', "hunter2x", "password"),
    "environment in python": ('os.environ["API_TOKEN"] = "{}"', "a1b2c3d4e5f6", "token"),
    "php": ("define('DB_PASSWORD', '{}');", "xk39fj2k", "password"),
    "yaml": ("db:\n  password: {}\n  host: db", "xk39-fj2k", "password"),
    "yaml name and value": ("- name: DB_PASSWORD\n  value: {}\n", "xk39fj2k", "password"),
    "json name and value": ('{{"name": "DB_PASSWORD", "value": "{}"}}', "xk39fj2k", "password"),
    "xml": ("<server><password>{}</password></server>", "hunter2x", "password"),
    "flag": ("deploy --token {} --verbose", "a1b2c3d4e5f6", "token"),
    "flag with equals": ("deploy --api-key={} --verbose", "a1b2c3d4e5f6", "api-key"),
    "flag in a list": ('["deploy", "--password", "{}"]', "hunter2x", "password"),
    "query": ("GET /items?access_token={}&page=2", "a1b2c3d4e5f6", "token"),
    "npmrc": ("//registry.example/:_auth" + "Token={}", "a1b2c3d4-e5f6-a7b8-c9d0", "token"),
    "header": ("X-Api-Key: {}", "a1b2c3d4e5f6", "api-key"),
    "run together": ("dbpassword={}", "hunter2x", "password"),
    "camel": ("clientSecret: '{}'", "a1b2c3d4e5f6", "secret"),
    "words": ("connection: Server=db;Password={};Timeout=5", "hunter2x", "password"),
    "numbered": ("API_KEY_2={}", "abcd1234efgh5678", "api-key"),
}


@pytest.mark.parametrize("name", PART_OF)
def test_of_a_line_with_a_secret_only_the_secret_is_masked(name: str) -> None:
    line, secret, family = PART_OF[name]
    assert mask(line.format(secret)).text == line.format(f"[REDACTED:{family}]")
    assert mask(f"before\n{line.format(secret)}\nafter").text == f"before\n{line.format(f'[REDACTED:{family}]')}\nafter"


STAYS = [
    *("total_tokens=12345678", '"max_tokens": 4096000000', "max_token=1a2b3c4d5e", '"token_type": "bearer"', "tokens: 123456789"),
    *("primary_key=True", 'public_key = "MIIBIjANBgkqhkiG9w0BAQ8AMIIB"', "cache_key: user-1234-abcd5678", "sort_key=a1b2c3d4e5f6"),
    *("nextToken: 'a1b2c3d4e5f6'", '"page_token": "a1b2c3d4e5f6"', "eos_token=<|endoftext|>", "pad_token_id: 12345678"),
    *("commit da39a3ee5e6b4b0d3255bfef95601890afd80709", "sha256:" + "e3b0c442" * 8, "md5 = d41d8cd98f00b204e9800998ecf8427e"),
    *("token = get_token()", "token = tokens[0]", "password: str", "password: Optional[str] = None", "token: string;"),
    *("password=password", "password = request.POST['password']", "secret_key = settings.SECRET_KEY", "password=self.password2"),
    *("self.token = tokens[12345]", "const token = await fetchToken(user1, 2)", "pwd=/home/ada/project1", "PWD=/home/ada/project1"),
    *("DB_PASSWORD=${DB_PASSWORD}", "DB_PASSWORD=$DB_PASSWORD", 'password: "{{ vault_password }}"', "token: <your token>"),
    *("password: %DB_PASSWORD%", "api_key='your-api-key-here'", "api_key: xxxxxxxxxxxxxxxx", "password=********", "password=00000000"),
    *("token: '...'", "secret: changeme", "SECRET_KEY=replace-me-1234", "password: '[REDACTED]'", "secretName: db-credentials-1"),
    *("secret: my-app-secret", "credentials: ~/.aws/credentials", "password_file=/run/secrets/db1", "key_path: ./keys/a1b2c3d4e5f6.pem"),
    *("Enter password: ", "Password: required", "the password is wrong", '"password": "Your password must have 8 characters"'),
    *("--password PASSWORD", "--token TOKEN", "[--token TOKEN1234]", "usage: x --password-stdin", "--- PASS: TestRewind2 (0.01s)"),
    *("PASS: TestIsShadowBranch/7_hex_chars (0.00s)", "Pass `maxsplit=1` into it", "2 passed, 1 failed", "compass: 12a34b56c78d"),
    *("Possible hardcoded password: 'HF_TOKEN'", "password1 = password2", "has_password: true", '"forgot_password": "Forgot it?"'),
    *("risk-assessment-2026-q1-final", "disk-a1b2c3d4e5f6a7b8", "class='sk-estimator-doc-link fitted'", "sk-toggleable__content"),
    *("AK" + "IAIOSFODNN7EXAMPLE", "sk-" + "ant-your-api-key-here", "gh" + "p_" + "x" * 36, "gh" + "p_" + "0" * 36),
    *("https://user:${PASS}@host/", "https://user:<password>@host/", "http://host:8080/a@b", "see https://x.example/@ada:1", "a://b:pw@c"),
    *("Authorization: Bearer $TOKEN", "Authorization: Bearer <token>", "Bearer tokens are nice to have", "Basic HTML5 knowledge"),
    *("Cookie: theme=dark; lang=en", "Set-Cookie: a=b; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "cookie_name=session"),
    *("if '-----BEGIN PRIVATE" + " KEY-----' in text:", "-----BEGIN PUBLIC KEY-----\n" + "A1b2" * 16 + "\n-----END PUBLIC KEY-----"),
    *("eyJ is how a JWT starts", "author: ada", "keyboard: a1b2c3d4e5f6", "monkey = 'a1b2c3d4e5f6'", "token 12345678", "token: 12345678"),
    *("mysql -p 3306 orders", "docker run -p8080:80 mysql", "curl -u $USER:$PASS https://x", "password=os.environ['X1']"),
]  # fmt: skip


@pytest.mark.parametrize("text", STAYS)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    assert mask(text) == Masked(text=text)
    assert mask(f"a\n  {text}\nb").text == f"a\n  {text}\nb"


def masked_pem(marker: str = "[REDACTED:private-key]") -> str:
    return "\n".join([f"-----BEGIN {KEY_LABEL}-----", *[marker] * len(BODY), f"-----END {KEY_LABEL}-----"])


def test_a_private_key_is_masked_line_by_line_and_counted_once() -> None:
    masked = mask(f"a\n{PEM}\nb")
    assert masked.text == f"a\n{masked_pem()}\nb"
    assert (masked.count, dict(masked.families), len(masked.spans)) == (1, {"private-key": 1}, len(BODY))


def test_a_private_key_in_a_json_string_is_masked() -> None:
    assert (
        mask('{"key": "' + PEM.replace("\n", "\\n") + '\\n"}').text
        == '{"key": "' + masked_pem().replace("\n", "\\n") + '\\n"}'
    )


def test_two_private_keys_are_two() -> None:
    masked = mask(f"{PEM}\n{PEM}\n")
    assert masked.text == f"{masked_pem()}\n{masked_pem()}\n"
    assert masked.count == 2


@pytest.mark.parametrize("prefix", ["{}\t", "  {}→", "{}:", "    ", "> "])
def test_a_private_key_is_masked_behind_what_a_listing_writes_before_each_line(prefix: str) -> None:
    def listed(text: str) -> str:
        return "\n".join(prefix.format(number) + line for number, line in enumerate(text.split("\n"), 10))

    assert mask(listed(PEM)).text == listed(masked_pem())


def test_the_header_of_an_encrypted_key_stays_readable() -> None:
    text = PEM.replace("KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\n\n", 1)
    assert mask(text).text == masked_pem().replace("KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\n\n", 1)


def test_a_private_key_that_was_cut_short_is_masked_up_to_where_it_ends() -> None:
    head = "\n".join(PEM.split("\n")[:3])
    assert mask(head).text == "\n".join(masked_pem().split("\n")[:3])
    assert mask(head[:-40]).text == "\n".join(masked_pem().split("\n")[:3])
    digest = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
    assert (
        mask(f"{head}\n[cut]\ncommit {digest}").text
        == "\n".join(masked_pem().split("\n")[:3]) + f"\n[cut]\ncommit {digest}"
    )


def test_a_private_key_whose_beginning_was_cut_away_is_masked() -> None:
    tail = "\n".join(PEM.split("\n")[2:])
    assert mask(f"[cut]\n{tail}\nb").text == "[cut]\n" + "\n".join(masked_pem().split("\n")[2:]) + "\nb"


def test_code_between_the_two_marks_of_a_key_stays() -> None:
    text = f'HEAD = "-----BEGIN {KEY_LABEL}-----"\nsize = getKeySize2048("rsa", defaultKeyParameters4)\nTAIL = "-----END {KEY_LABEL}-----"'
    assert mask(text).text == text


@pytest.mark.parametrize("kind", ["PGP PRIVATE" + " KEY BLOCK", "OPENSSH PRIVATE" + " KEY", "EC PRIVATE" + " KEY"])
def test_other_private_keys_are_masked_too(kind: str) -> None:
    assert mask(PEM.replace(KEY_LABEL, kind)).text == masked_pem().replace(KEY_LABEL, kind)


def test_the_private_lines_of_a_putty_key_are_masked_and_the_public_ones_stay() -> None:
    public = "\n".join(BODY[:2])
    text = f"PuTTY-User-Key-File-2: ssh-rsa\nPublic-Lines: 2\n{public}\nPrivate-Lines: 2\n{BODY[0]}\n{BODY[1]}\nPrivate-MAC: ab12"
    marked = (
        text.rsplit("Private-Lines", 1)[0] + "Private-Lines: 2\n" + "[REDACTED:private-key]\n" * 2 + "Private-MAC: ab12"
    )
    assert mask(text).text == marked


def test_a_secret_inside_the_value_of_a_name_is_masked_with_it() -> None:
    assert mask('password="pre-' + "gh" + "p_" + made_up(36) + '-post"').text == 'password="[REDACTED:password]"'


def test_spans_are_in_characters_of_what_was_given() -> None:
    text = "höhe 漢 😀 DB_PASSWORD=hunter22x\nпароль token='a1b2c3d4e5f6'"
    masked = mask(text)
    assert [text[start:end] for start, end in masked.spans] == ["hunter22x", "a1b2c3d4e5f6"] or masked.count == 2


def test_lone_surrogates_and_bytes_that_are_no_text_survive() -> None:
    text = "\ud83d \udcff password='hunter2x' \ude00"
    assert mask(text).text == "\ud83d \udcff password='[REDACTED:password]' \ude00"
    assert mask_bytes(b"\xff\x00 password='hunter2x' \xed").data == b"\xff\x00 password='[REDACTED:password]' \xed"
    assert mask_bytes(bytes(range(256))).data == bytes(range(256))


FRAGMENTS = st.sampled_from(
    [secret for secret, _ in BY_SHAPE.values()]
    + [line.format(secret) for line, secret, _ in PART_OF.values()]
    + STAYS
    + [
        PEM,
        PEM.replace("\n", "\\n"),
        PEM[:100],
        PEM[40:],
        "[REDACTED:token]",
        "[REDACTED:",
        "password",
        "token",
        "api_key",
        "Bearer ",
    ]
    + [
        *"=:\"'\\`,;&@/ \t\n\r-_.<>()[]{}$%",
        "\\n",
        '\\"',
        "\r\n",
        "://",
        "漢",
        "\ud83d",
        "\udcff",
        "\u2028",
        "\x85",
        "a1b2c3d4e5f6",
        "x" * 20,
    ]
)


@given(st.lists(FRAGMENTS, max_size=12).map("".join))
def test_masking_twice_changes_nothing_more_and_lines_and_spans_are_right(text: str) -> None:
    masked = mask(text)
    assert mask(masked.text) == Masked(text=masked.text)
    assert masked.text.count("\n") == text.count("\n")
    assert len(masked.text.splitlines()) == len(text.splitlines())
    assert masked.count == sum(masked.families.values()) <= len(masked.spans)
    kept, at = [], 0
    for start, end in masked.spans:
        assert at <= start < end <= len(text)
        kept.append(text[at:start])
        at = end
    rest = masked.text
    for part in kept:
        assert rest.startswith(part)
        marker, _, rest = rest[len(part) :].partition("]")
        assert marker.startswith("[REDACTED:")
    assert rest == text[at:]


@given(st.lists(FRAGMENTS, max_size=6).map("".join).filter(lambda text: to_text(to_bytes(text)) == text))
def test_bytes_are_masked_as_their_text_is(text: str) -> None:
    assert mask_bytes(to_bytes(text)).data == to_bytes(mask(text).text)


@given(st.text())
def test_any_text_is_masked_without_an_error(text: str) -> None:
    masked = mask(text)
    assert mask(masked.text).text == masked.text


HOSTILE = [
    "token=",
    'token="',
    "token='a \"",
    "sk-",
    "sk-a",
    "ey" + "J",
    "eyJa.",
    "://a:",
    "cookie:a=",
    "key ",
    "password: ",
    "%AA",
    "a",
    "A",
    "\\n",
    "\\",
]


@pytest.mark.parametrize(
    "unit",
    [
        *HOSTILE,
        f"-----BEGIN {KEY_LABEL}-----",
        f"-----END {KEY_LABEL}-----",
        "Private-Lines: 1 ",
        "Private-MAC:",
        "AB" + "AK" + "IA",
        "SG.",
        "curl -",
        "mysql ",
        "login a password ",
    ],
)
def test_what_could_backtrack_ends(unit: str) -> None:
    text = (unit * (1_000_000 // len(unit) + 1))[:300_000]
    masked = mask(text)
    assert masked.text.count("\n") == text.count("\n")


@pytest.mark.parametrize("line_end", ["\u2028", "\u2029", "\x85", "\x0b", "\x1c"])
def test_a_line_end_that_only_some_readers_know_stays_too(line_end: str) -> None:
    text = f"machine a login ada password s3cret-pw{line_end}s3cret-pw2"
    masked = mask(text).text
    assert masked.splitlines()[0] == "machine a login ada password [REDACTED:password]"
    assert len(masked.splitlines()) == 2
