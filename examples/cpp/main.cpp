// SPDX-License-Identifier: Apache-2.0
// Reads jobs, prints everything that is wrong with them, and names the objects that each becomes. C++17.
//
//     c++ -std=c++17 main.cpp $(pkg-config --cflags --libs mpijob) -o jobs && ./jobs job.yaml
#include <mpijob/mpijob.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <new>
#include <string>

// Every object of the library goes to its own _free when its owner does.
template <auto release> struct Release {
	template <class T> void operator()(T *object) const { release(object); }
};
using Diag = std::unique_ptr<mpijob_diag, Release<mpijob_diag_free>>;
using Job = std::unique_ptr<mpijob, Release<mpijob_free>>;
using Objects = std::unique_ptr<mpijob_objects, Release<mpijob_objects_free>>;

// A result code that is no success. What, where and why stands in the findings.
struct Failure {
	int code;
};

static void check(int code)
{
	if (code == MPIJOB_ERR_NOMEM)
		throw std::bad_alloc();
	if (code < 0)
		throw Failure{code};
}

// What comes out of the library through `T **` is owned from the first moment.
template <class Owner, class Call> Owner take(Call call)
{
	typename Owner::pointer object = nullptr;
	check(call(&object));
	return Owner(object);
}

// The library is C: nothing may be thrown through it.
static int append(void *text, const char *data, size_t len) noexcept
try {
	static_cast<std::string *>(text)->append(data, len);
	return 0;
} catch (const std::bad_alloc &) {
	return MPIJOB_ERR_NOMEM;
}

static void show(const std::string &name, mpijob_diag *diag)
{
	std::ifstream file(name);
	if (!file)
		throw std::ios_base::failure("cannot open " + name);
	const std::string text{std::istreambuf_iterator<char>(file), {}};
	mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	options.source = name.c_str();
	const auto job = take<Job>([&](mpijob **out) { return mpijob_parse(text.data(), text.size(), &options, out, diag); });
	check(mpijob_default(job.get(), nullptr, diag));
	check(mpijob_validate(job.get(), nullptr, diag));
	const auto objects = take<Objects>([&](mpijob_objects **out) { return mpijob_render(job.get(), nullptr, out, diag); });
	mpijob_object_head head = MPIJOB_OBJECT_HEAD_INIT;
	for (size_t i = 0; i < mpijob_objects_count(objects.get()); i++) {
		check(mpijob_objects_head(objects.get(), i, &head));
		std::cout << head.kind << ' ' << head.name << '\n';
	}
}

int main(int argc, char **argv)
try {
	int failures = 0;
	for (int i = 1; i < argc; i++) {
		const Diag diag(mpijob_diag_new());
		try {
			show(argv[i], diag.get());
		} catch (const Failure &failure) {
			std::cerr << argv[i] << ": " << mpijob_error_text(failure.code) << '\n';
			failures++;
		}
		for (size_t finding = 0; mpijob_diag_at(diag.get(), finding); finding++) {
			std::string line;
			check(mpijob_finding_write(mpijob_diag_at(diag.get(), finding), append, &line));
			std::cerr << line << '\n';
		}
	}
	return failures ? 1 : 0;
} catch (const std::exception &error) {
	std::cerr << error.what() << '\n';
	return 2;
}
