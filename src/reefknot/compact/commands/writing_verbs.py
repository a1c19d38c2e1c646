"""Commands by what they may change: tables that `writes` looks things up in.

Not all that exist: those that agents use. What is in no table may change the paths that its words name.
"""

import re

__all__ = [
    "ALL_OPERANDS",
    "BUILDS",
    "FORMATS_ALWAYS",
    "FORMATS_IF",
    "INSTALLS",
    "INTERPRETERS",
    "LAST_OPERAND",
    "MAY_WRITE",
    "ONLY_CHECKS",
    "ONLY_LOOKS",
    "PACKAGE_FILES",
    "RUNNERS",
    "TASK_CHANGES",
    "TASK_FORMATS",
    "TASK_RUNNERS",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


RUNNERS = _words(
    "pytest py.test unittest nosetests tox nox jest vitest mocha ava karma phpunit rspec ctest gtest bats"
    " playwright cypress go cargo mvn gradle gradlew ./gradlew ./mvnw dotnet swift xcodebuild bazel make"
    " cmake ninja meson tsc tsgo webpack vite rollup esbuild parcel turbo nx npm npx pnpm yarn bun bunx"
    " deno node python python2 python3 pypy pypy3 python3.8 python3.9 python3.10 python3.11 python3.12"
    " python3.13 ruby perl php lua java javac scala kotlin kotlinc gcc g++ cc clang clang++ ld rustc ghc"
    " ocaml sbcl R Rscript julia erl elixir mix rake bundle gem mypy pyright basedpyright flake8 pylint"
    " shellcheck hadolint yamllint markdownlint golangci-lint staticcheck eslint tslint stylelint clippy"
    " codespell uv poetry pipenv hatch pdm conda mamba pip pip3 mise just task invoke lefthook pre-commit"
    " tox tox4 docker docker-compose podman kubectl helm gh hub glab aws gcloud az terraform vercel"
    " netlify fly heroku psql mysql redis-cli mongo ssh ping nc netcat telnet nmap dig nslookup host curl"
    " wget http gdb lldb strace ltrace radare2 r2 valgrind perf time watch sleep date wc stat du df ps top"
    " free kill pkill killall jobs fg bg wait lsof ss netstat ip ifconfig uptime mount journalctl"
    " systemctl service crontab open xdg-open code man help clear reset history uptime nproc lscpu nvidia-"
    " smi vmstat iostat tput stty screen tmux entire claude codex gofmt gofumpt goimports black ruff isort"
    " prettier biome rustfmt clang-format autopep8 yapf shfmt terraform buf swiftformat ktlint standard xo"
    " dprint rubocop submit exit chmod chown chgrp export source . eval trap pushd popd cd read exec umask"
    " ulimit exiftool binwalk steghide file ldd"
)
FORMATS_ALWAYS = frozenset({"black", "isort", "rustfmt", "yapf", "swiftformat", "dprint", "unexpand-in-place"})
FORMATS_IF = {
    "gofmt": ("-w",),
    "gofumpt": ("-w",),
    "goimports": ("-w",),
    "prettier": ("--write", "-w"),
    "biome": ("--write", "--apply", "--fix", "format"),
    "eslint": ("--fix",),
    "stylelint": ("--fix",),
    "ruff": ("--fix", "format", "--fix-only"),
    "clang-format": ("-i",),
    "autopep8": ("-i", "--in-place"),
    "shfmt": ("-w",),
    "golangci-lint": ("--fix", "fmt"),
    "rubocop": ("-a", "-A", "--autocorrect", "--autocorrect-all"),
    "standard": ("--fix",),
    "ktlint": ("-F", "--format"),
    "terraform": ("fmt",),
    "buf": ("generate", "format"),
    "pre-commit": ("run",),
    "lefthook": ("run",),
    "dotnet": ("format",),
    "codespell": ("-w",),
    "markdownlint": ("--fix",),
    "xo": ("--fix",),
}
ONLY_CHECKS = frozenset({"--check", "--diff", "--check-only", "-c", "--list-different", "-l", "--dry-run", "-d"})
TASK_RUNNERS = _words(
    "make npm pnpm yarn bun mise just task rake nox tox invoke turbo nx hatch poetry pdm gradle gradlew"
    " ./gradlew mvn mix bazel deno composer"
)
TASK_CHANGES = re.compile(
    r"(?:^|[:_/-])(?:fix|autofix|gen|generate|codegen|update|upgrade|sync|migrate|migration|makemigrations|vendor"
    r"|tidy|scaffold|clean|write|rename|release|bump)(?:$|[:_/-])"
)
TASK_FORMATS = re.compile(r"(?:^|[:_/-])(?:fmt|format|reformat)(?:$|[:_/-])")
ONLY_LOOKS = re.compile(
    r"(?:^|[_-])(?:test|tests|verify|check|debug|repro|reproduce|analyze|analyse|demo|example|validate|show"
    r"|explore)(?:$|[_-])"
)
INSTALLS = _words("install i add remove rm uninstall update upgrade ci link dedupe sync lock require")
PACKAGE_FILES = {
    "npm": ("package.json", "package-lock.json", "node_modules"),
    "pnpm": ("package.json", "pnpm-lock.yaml", "node_modules"),
    "yarn": ("package.json", "yarn.lock", "node_modules"),
    "bun": ("package.json", "bun.lock", "node_modules"),
    "pip": ("site-packages",),
    "pip3": ("site-packages",),
    "uv": ("site-packages", "uv.lock", "pyproject.toml"),
    "poetry": ("pyproject.toml", "poetry.lock", "site-packages"),
    "pdm": ("pyproject.toml", "pdm.lock", "site-packages"),
    "pipenv": ("Pipfile", "Pipfile.lock"),
    "bundle": ("Gemfile.lock",),
    "composer": ("composer.json", "composer.lock", "vendor"),
    "apt": (),
    "apt-get": (),
    "brew": (),
    "conda": ("site-packages",),
    "gem": (),
    "deno": ("deno.json", "deno.lock"),
}
MAY_WRITE = frozenset({"uniq", "xxd", "yq", "tree", "base64", "less"})  # with some of their options
LAST_OPERAND = frozenset({"cp", "ln", "install", "rsync", "scp", "ditto"})
ALL_OPERANDS = _words(
    "rm rmdir unlink shred touch truncate mkdir mkfifo tee gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd"
    " ed ex vim vi nano emacs trash sqlite3 dos2unix unix2dos sponge"
)


BUILDS = _words(
    "make npm pnpm yarn bun npx tsc tsgo cargo mvn gradle gradlew ./gradlew dotnet cmake ninja webpack"
    " vite rollup esbuild turbo mise just swift xcodebuild bazel"
)
INTERPRETERS = _words("python python2 python3 pypy3 node ruby perl php lua deno bun tsx ts-node")
